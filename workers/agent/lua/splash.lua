-- What our workloads on sysbench have in common: one connection a thread, counting, and reports as JSON lines.
--
-- sysbench runs this in a Lua state of its own for each thread, for the reporting thread, for the one that takes
-- checkpoints and for the main thread. They share one block of counters: a row of numbers a thread, written by that
-- thread only, and what the reports have told already.
--
-- A script calls splash.workload once; see there.

local ffi = require("ffi")

ffi.cdef [[
void *calloc(size_t number, size_t size);
int setenv(const char *name, const char *value, int overwrite);
char *getenv(const char *name);
typedef struct { long seconds, nanoseconds; } splash_time;
int clock_gettime(int clock, splash_time *now);
]]

local splash = {}
local WIDTH = 32 -- counters a thread: a multiple of the cache line; its histograms follow
local BUCKETS, LOWEST, HIGHEST = 1024, 0.001, 100000 -- ms: sysbench's own grid
local SHARED = "SPLASH_COUNTERS"
-- Codes of errors after which an event is tried again, as sysbench counts errors by none.
local RETRIED = {
   { 1213, "deadlock" },
   { 1205, "lock wait timeout" },
   { 1020, "record has changed since last read" },
   { 1412, "table definition has changed" },
}

local names, places = {}, {}

-- The place of a counter. Before splash.workload, in the same order in every state.
function splash.counter(name)
   if not places[name] then
      assert(#names < WIDTH, "too many counters")
      places[name] = #names
      names[#names + 1] = name
   end
   return places[name]
end

local histograms = {}
local stride = WIDTH

-- A histogram, in the report under `metric`, of values that splash.observe is given; as splash.counter.
function splash.histogram(metric)
   local made = { metric = metric, place = stride, sum = splash.counter(metric .. ".sum") }
   histograms[#histograms + 1] = made
   stride = stride + BUCKETS
   return made
end

-- Of statements before the load, which sysbench counts with the rest.
local SETUP = {
   reads = splash.counter("setup.reads"),
   writes = splash.counter("setup.writes"),
   others = splash.counter("setup.others"),
   unmatched = splash.counter("setup.unmatched"), -- writes among the others
}
splash.OPENED = splash.counter("opened")
local REFUSED = splash.counter("refused")
local FAILED = {}
for _, entry in ipairs(RETRIED) do
   FAILED[entry[1]] = splash.counter("error." .. entry[1])
end
splash.ROWS = splash.counter("rows")
splash.UNMATCHED = splash.counter("unmatched") -- writes that changed no row
local REFUSED_LATER = splash.counter("refused.later") -- connections asked for within a transaction

-- ------------------------------------------------------------------ shared counters

-- Rows 0 to threads-1: one a thread; then the main thread's, what reports of each kind have told, and flags.
local block
local mine -- this thread's row
local LAST_INTERVAL, LAST_TOTAL, LAST_ERRORS, FLAGS
local CUT = 0 -- a flag: a checkpoint fell into the interval under way

local function allocate()
   local rows = sysbench.opt.threads + 5
   block = ffi.cast("double *", ffi.C.calloc(rows * stride, 8)) -- never freed: the process ends with the run
   assert(block ~= nil, "no memory for counters")
   ffi.C.setenv(SHARED, string.format("%.0f", tonumber(ffi.cast("uintptr_t", block))), 1)
end

local function attach()
   if not block then
      local address = ffi.C.getenv(SHARED)
      assert(address ~= nil, "no counters")
      block = ffi.cast("double *", ffi.cast("uintptr_t", tonumber(ffi.string(address))))
   end
   local threads = sysbench.opt.threads
   LAST_INTERVAL, LAST_TOTAL = (threads + 1) * stride, (threads + 2) * stride
   LAST_ERRORS, FLAGS = (threads + 3) * stride, (threads + 4) * stride
end

function splash.add(place, number)
   mine[place] = mine[place] + number
end

local PER_LOG = (BUCKETS - 1) / (math.log(HIGHEST) - math.log(LOWEST))

-- `value` in ms.
function splash.observe(histogram, value)
   local bucket = value <= LOWEST and 0 or math.floor((math.log(value) - math.log(LOWEST)) * PER_LOG + 0.5)
   splash.add(histogram.place + math.min(bucket, BUCKETS - 1), 1)
   splash.add(histogram.sum, value)
end

local function value_of(bucket)
   return math.floor(math.exp(bucket / PER_LOG + math.log(LOWEST)) * 1000 + 0.5) / 1000
end

local function sum(place)
   local found = 0
   for thread = 0, sysbench.opt.threads do
      found = found + block[thread * stride + place]
   end
   return found
end

-- Of every thread since the load began.
function splash.total(name)
   return sum(places[name])
end

-- What was counted since the last report of this kind.
local function news(last)
   local found = {}
   for place, name in ipairs(names) do
      local now = sum(place - 1)
      found[name] = now - block[last + place - 1]
      block[last + place - 1] = now
   end
   return found
end

-- The buckets of a histogram that got something since the last report of this kind: {{value in ms, count}, …}.
local function new_buckets(histogram, last)
   local found = {}
   for bucket = 0, BUCKETS - 1 do
      local place = histogram.place + bucket
      local now = sum(place)
      local count = now - block[last + place]
      if count > 0 then
         found[#found + 1] = { value_of(bucket), count }
         block[last + place] = now
      end
   end
   return found
end

local function percentile_of(buckets, percent)
   local total, seen = 0, 0
   for _, bucket in ipairs(buckets) do
      total = total + bucket[2]
   end
   for _, bucket in ipairs(buckets) do
      seen = seen + bucket[2]
      if seen >= total * percent / 100 then
         return bucket[1], total
      end
   end
end

-- ------------------------------------------------------------------ JSON lines

local function encode(value)
   if type(value) == "table" then
      local parts = {}
      if #value > 0 then
         for i, entry in ipairs(value) do
            parts[i] = encode(entry)
         end
         return "[" .. table.concat(parts, ",") .. "]"
      end
      for key in pairs(value) do
         parts[#parts + 1] = key
      end
      table.sort(parts)
      for i, key in ipairs(parts) do
         parts[i] = encode(key) .. ":" .. encode(value[key])
      end
      return "{" .. table.concat(parts, ",") .. "}"
   elseif type(value) == "number" then
      return string.format(value == math.floor(value) and "%.0f" or "%.9g", value)
   elseif type(value) == "boolean" then
      return tostring(value)
   end
   return '"' .. tostring(value):gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

-- One line, `kind` first, in one write, since several threads report.
function splash.say(kind, fields)
   io.stdout:write('{"kind":"' .. kind .. '",' .. encode(fields):sub(2) .. "\n")
   io.stdout:flush()
end

-- Whether the workload did what it claims.
function splash.check(name, label, expected, found)
   splash.say("check", { check = name, label = label, held = expected == found, expected = expected, found = found })
end

-- ------------------------------------------------------------------ reports

local declared -- what the script gave to splash.workload

local function counts(stat, new)
   local reads = stat.reads - new["setup.reads"]
   local writes = stat.writes - new["setup.writes"]
   local others = stat.other - new["setup.others"]
   local found = {
      transactions = stat.events,
      reads = reads,
      writes = writes,
      others = others,
      unmatched = new.unmatched, -- sysbench counts them with the others
      errors = stat.errors + new["refused.later"],
      reconnects = stat.reconnects,
   }
   for _, name in ipairs(declared.counts) do
      found[name] = new[name]
   end
   return found
end

local function percentile()
   return "latency.p" .. sysbench.opt.percentile
end

-- Adds a histogram's figures to `values`; returns its buckets.
local function describe(histogram, last, new, values)
   local buckets = new_buckets(histogram, last)
   for _, percent in ipairs { 50, 95, 99 } do
      local value, count = percentile_of(buckets, percent)
      if value then
         values[histogram.metric .. ".p" .. percent] = value
         values[histogram.metric .. ".avg"] = new[histogram.metric .. ".sum"] / count
         values[histogram.metric .. ".max"] = buckets[#buckets][1]
      end
   end
   return buckets
end

-- Those not told yet. sysbench may end the thread that reports intervals at any line it prints.
local function say_errors(t)
   for _, entry in ipairs(RETRIED) do
      local code, words = unpack(entry)
      local now, told = sum(FAILED[code]), LAST_ERRORS + FAILED[code]
      if now > block[told] then
         splash.say("error", { t = t, code = code, text = words .. ", tried again", count = now - block[told] })
         block[told] = now
      end
   end
end

function sysbench.hooks.report_intermediate(stat)
   attach()
   local new = news(LAST_INTERVAL)
   local values = declared.interval and declared.interval() or {}
   -- A checkpoint empties the histogram of the interval that is under way.
   if stat.events > 0 and block[FLAGS + CUT] == 0 then
      values[percentile()] = stat.latency_pct * 1000
   end
   block[FLAGS + CUT] = 0
   for _, histogram in ipairs(histograms) do
      describe(histogram, LAST_INTERVAL, new, values)
   end
   if sysbench.opt.rate > 0 then
      values.queue_length, values.concurrency = stat.queue_length, stat.concurrency
   end
   splash.say("interval", {
      t = stat.time_total,
      seconds = stat.time_interval,
      threads = stat.threads_running,
      counts = counts(stat, new),
      values = values,
   })
   say_errors(stat.time_total)
end

function sysbench.hooks.report_cumulative(stat)
   attach()
   local new = news(LAST_TOTAL)
   block[FLAGS + CUT] = 1
   -- In the main thread, after all others ended; else a checkpoint.
   local is_last = stat.threads_running == 0
   local values = is_last and declared.final and declared.final() or {}
   if stat.events > 0 then
      values[percentile()] = stat.latency_pct * 1000
      values["latency.min"] = stat.latency_min * 1000
      values["latency.avg"] = stat.latency_avg * 1000
      values["latency.max"] = stat.latency_max * 1000
   end
   if is_last then
      values["client.connections.opened"] = splash.total("opened")
      values["client.connections.refused"] = splash.total("refused")
   end
   local from = math.max(0, stat.time_total - stat.time_interval)
   for _, histogram in ipairs(histograms) do
      local buckets = describe(histogram, LAST_TOTAL, new, values)
      if is_last and #buckets > 0 then
         splash.say("histogram", { metric = histogram.metric, from = from, to = stat.time_total, buckets = buckets })
      end
   end
   if is_last then
      say_errors(stat.time_total)
      local reads = splash.total("setup.reads")
      local writes = splash.total("setup.writes") + splash.total("setup.unmatched")
      splash.say("note", {
         text = string.format("before the load %d statements read and %d wrote; they are not counted", reads, writes),
         setup = { reads = reads, writes = writes },
      })
   end
   splash.say("total", {
      from = from,
      to = stat.time_total,
      counts = counts(stat, new),
      values = values,
   })
end

-- ------------------------------------------------------------------ statements

-- Of this thread; `result` is its connection's only result, which also tells of statements without rows.
local connection, result
local takes_part = false -- in the load: else its connection was refused

local driver -- of this thread, kept as long as its connections

local function connect()
   driver = driver or sysbench.sql.driver()
   return driver:connect()
end

-- A connection, or nil when it was refused; the reason is among sysbench's own lines.
function splash.connect()
   local is_open, made = pcall(connect)
   return is_open and made or nil
end

-- sysbench gives a result to those who read only; what it writes into is the same for each statement.
local function keep(made)
   connection, result = made, made:query("SELECT 1")
   splash.add(SETUP.reads, 1)
end

-- After a write: the number of rows that it changed.
function splash.changed()
   local rows = result.nrows
   if rows == 0 then
      splash.add(splash.UNMATCHED, 1)
   end
   return rows
end

function splash.write(sql)
   connection:query(sql)
   return splash.changed()
end

-- A statement that is to change no row: BEGIN, COMMIT, …
function splash.control(sql)
   connection:query(sql)
end

-- The first row as texts, or nothing.
function splash.row(sql)
   return connection:query_row(sql)
end

-- All rows, unread: sysbench has fetched them.
function splash.read(sql)
   connection:query(sql)
end

-- All rows, each a list of texts.
function splash.rows(sql)
   local found, rows = connection:query(sql), {}
   for i = 1, found ~= nil and found.nrows or 0 do
      rows[i] = found:fetch_row()
   end
   return rows
end

-- A statement before the load. Returns its rows, each a list of texts.
function splash.setup(sql)
   local rows = splash.rows(sql)
   local kinds = { [0] = SETUP.others, SETUP.reads, SETUP.writes }
   local kind = kinds[tonumber(result.counter)]
   splash.add(kind, 1)
   if kind == SETUP.others and (sql:match("^DELETE ") or sql:match("^UPDATE ") or sql:match("^INSERT ")) then
      splash.add(SETUP.unmatched, 1)
   end
   return rows
end

-- Rows of one INSERT, as texts in parentheses.
function splash.insert(into, rows)
   return splash.write("INSERT INTO " .. into .. " VALUES " .. table.concat(rows, ","))
end

-- In prepare: `make(i)` gives the text of row i of `from` to `to`; many rows a statement.
function splash.fill(con, into, from, to, make)
   con:bulk_insert_init("INSERT INTO " .. into .. " VALUES")
   for i = from, to do
      con:bulk_insert_next(make(i))
   end
   con:bulk_insert_done()
end

function splash.text(length)
   return sysbench.rand.string(string.rep("@", length))
end

-- s since 1970, by this machine's clock.
local now = ffi.new("splash_time")
function splash.now()
   ffi.C.clock_gettime(0, now)
   return tonumber(now.seconds) + tonumber(now.nanoseconds) * 1e-9
end

-- ------------------------------------------------------------------ the workload

local function each_piece(pieces, make)
   local con = connect()
   for number = sysbench.tid % sysbench.opt.threads + 1, pieces, sysbench.opt.threads do
      make(con, number)
   end
end

-- Before an event is tried again. After a lock wait timeout the transaction is still open.
local function try_again(failure)
   local place = FAILED[failure.sql_errno]
   if place then
      splash.add(place, 1)
   end
   failure.connection:query("ROLLBACK")
end

-- Fields of `workload`:
--   options   sysbench's way: name = {words, default}
--   tables    names of the tables, to be dropped: () -> {name, …}
--   pieces    how many pieces prepare has to make: () -> number; they are shared out among threads
--   make      makes one of them: (con, number)
--   prepare   in the place of these two, on each thread
--   start     before the load, on the main thread, by splash.setup
--   open      connects a thread: () -> connection; nil: it was refused, false: events bring their own
--   thread    before the load, on each thread that is connected; splash.setup is there
--   event     one transaction
--   close     after the load, on each thread that is connected
--   counts    names of counters to report beside sysbench's own
--   interval  values of an interval: () -> {name = number}
--   final     after the load, on the main thread: () -> values of the measured phase, {name = number}
function splash.workload(workload)
   declared = workload
   declared.counts = declared.counts or {}
   sysbench.cmdline.options = workload.options
   sysbench.cmdline.commands = {
      prepare = {
         workload.prepare or function() each_piece(workload.pieces(), workload.make) end,
         sysbench.cmdline.PARALLEL_COMMAND,
      },
   }

   function cleanup()
      local con = connect()
      for _, name in ipairs(workload.tables()) do
         con:query("DROP TABLE IF EXISTS " .. name)
      end
   end

   function init()
      allocate()
      attach()
      mine = block + sysbench.opt.threads * stride
      if workload.start then
         keep(connect())
         workload.start()
      end
   end

   function thread_init()
      attach()
      mine = block + sysbench.tid * stride
      local made = (workload.open or splash.connect)()
      if made == nil then
         splash.add(REFUSED, 1)
         return
      end
      takes_part = true
      if made then
         keep(made)
         splash.add(splash.OPENED, 1)
      end
      if workload.thread then
         workload.thread()
      end
   end

   function thread_done()
      if takes_part and workload.close then
         workload.close()
      elseif connection then
         connection:disconnect()
      end
   end

   event = workload.event
end

ffi.cdef [[
int usleep(unsigned microseconds);
]]

local NOT_DONE = {}

-- For an event that could not even begin, since the server refused it a connection: it counts as an error.
function splash.refuse()
   splash.add(REFUSED, 1)
   splash.add(REFUSED_LATER, 1)
   ffi.C.usleep(500000) -- else a server that is full is asked as fast as the processor goes
   return NOT_DONE
end

-- sysbench's own loop, but for what was refused.
function thread_run(thread)
   while takes_part and ffi.C.sb_more_events(thread) do
      ffi.C.sb_event_start(thread)
      local is_done, outcome
      repeat
         is_done, outcome = pcall(declared.event, thread)
         if not is_done then
            if type(outcome) ~= "table" or outcome.errcode ~= sysbench.error.RESTART_EVENT then
               error(outcome, 2)
            end
            try_again(outcome)
         end
      until is_done
      if outcome ~= NOT_DONE then
         ffi.C.sb_event_stop(thread)
      end
   end
end

return splash
