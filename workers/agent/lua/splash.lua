-- What our workloads on sysbench have in common: one connection a thread, statements that are counted, and the loop.
--
-- A script calls splash.workload once; see there.

local ffi = require("ffi")
local counters = require("counters")
local greeting = require("greeting")
local report = require("report")

ffi.cdef [[
typedef struct { long seconds, nanoseconds; } splash_time;
int clock_gettime(int clock, splash_time *now);
int usleep(unsigned microseconds);
]]

local splash = {
   counter = counters.counter,
   histogram = counters.histogram,
   add = counters.add,
   observe = counters.observe,
   total = counters.total,
   ROWS = counters.counter("rows"),
   OPENED = report.OPENED,
}

-- Whether the workload did what it claims.
function splash.check(name, label, expected, found)
   report.say("check", { check = name, label = label, held = expected == found, expected = expected, found = found })
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
   splash.add(report.SETUP.reads, 1)
end

-- After a write: the number of rows that it changed.
function splash.changed()
   local rows = result.nrows
   if rows == 0 then
      splash.add(report.UNMATCHED, 1)
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
   local kinds = { [0] = report.SETUP.others, report.SETUP.reads, report.SETUP.writes }
   local kind = kinds[tonumber(result.counter)]
   splash.add(kind, 1)
   if kind == report.SETUP.others and (sql:match("^DELETE ") or sql:match("^UPDATE ") or sql:match("^INSERT ")) then
      splash.add(report.SETUP.unmatched, 1)
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
   local place = report.FAILED[failure.sql_errno]
   if place then
      splash.add(place, 1)
   end
   failure.connection:query("ROLLBACK")
end

local SETTLED = counters.counter("settled") -- threads that are connected, refused or failed

-- sysbench has them wait in C as soon as they return: nobody could then give up those that wait in vain.
local function await_others()
   splash.add(SETTLED, 1)
   local again_at = splash.now() + greeting.PATIENCE
   while counters.total("settled") < sysbench.opt.threads do
      ffi.C.usleep(50000)
      if splash.now() > again_at then
         greeting.give_up()
         again_at = splash.now() + 1
      end
   end
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
   report.workload = workload
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
      counters.allocate()
      counters.take_row(sysbench.opt.threads)
      if workload.start then
         keep(connect())
         workload.start()
      end
   end

   function thread_init()
      counters.attach()
      counters.take_row(sysbench.tid)
      local is_settled, made = pcall(workload.open or splash.connect)
      await_others()
      if not is_settled then
         error(made, 0)
      end
      if made == nil then
         splash.add(report.REFUSED, 1)
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

local NOT_DONE = {}

-- For an event that could not even begin, since the server refused it a connection: it counts as an error.
function splash.refuse()
   splash.add(report.REFUSED, 1)
   splash.add(report.REFUSED_LATER, 1)
   ffi.C.usleep(500000) -- else a server that is full is asked as fast as the processor goes
   return NOT_DONE
end

-- sysbench's own loop, but for what was refused.
function thread_run(thread)
   while takes_part and ffi.C.sb_more_events(thread) do
      ffi.C.sb_event_start(thread)
      local is_done, outcome
      repeat
         is_done, outcome = pcall(report.workload.event, thread)
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
