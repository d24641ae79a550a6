-- Counters that all Lua states of the process share: a row of numbers a thread, written by that thread only.
--
-- sysbench runs a script in a state of its own for each thread, for the reporting thread, for the one that takes
-- checkpoints and for the main thread. What the reports have printed already lies beside the threads' rows.

local ffi = require("ffi")

ffi.cdef [[
void *calloc(size_t number, size_t size);
int setenv(const char *name, const char *value, int overwrite);
char *getenv(const char *name);
]]

local counters = { histograms = {} }
local WIDTH = 32 -- counters a thread: a multiple of the cache line; its histograms follow
local BUCKETS, LOWEST, HIGHEST = 1024, 0.001, 100000 -- ms: sysbench's own grid
local SHARED = "SPLASH_COUNTERS"

local names, places = {}, {}
local stride = WIDTH

-- The place of a counter. While the script is loaded, in the same order in every state.
function counters.counter(name)
   if not places[name] then
      assert(#names < WIDTH, "too many counters")
      places[name] = #names
      names[#names + 1] = name
   end
   return places[name]
end

-- A histogram, in the report under `metric`, of values given to `observe`; as `counter`.
function counters.histogram(metric)
   local made = { metric = metric, place = stride, sum = counters.counter(metric .. ".sum") }
   table.insert(counters.histograms, made)
   stride = stride + BUCKETS
   return made
end

-- Rows 0 to threads-1: one a thread; then the main thread's, and one for each kind of report: what it has reported.
counters.KINDS = { interval = 1, total = 2, errors = 3, cut = 4 }
local block
local mine -- this thread's row

-- On the main thread, before there are others.
function counters.allocate()
   local rows = sysbench.opt.threads + 5
   block = ffi.cast("double *", ffi.C.calloc(rows * stride, 8)) -- never freed: the process ends with the run
   assert(block ~= nil, "no memory for counters")
   ffi.C.setenv(SHARED, string.format("%.0f", tonumber(ffi.cast("uintptr_t", block))), 1)
end

function counters.attach()
   if not block then
      local address = ffi.C.getenv(SHARED)
      assert(address ~= nil, "no counters")
      block = ffi.cast("double *", ffi.cast("uintptr_t", tonumber(ffi.string(address))))
   end
end

-- Which row this state counts into; the main thread's follows the others'.
function counters.take_row(number)
   mine = block + number * stride
end

function counters.add(place, number)
   mine[place] = mine[place] + number
end

local PER_LOG = (BUCKETS - 1) / (math.log(HIGHEST) - math.log(LOWEST))

-- `value` in ms.
function counters.observe(histogram, value)
   local bucket = value <= LOWEST and 0 or math.floor((math.log(value) - math.log(LOWEST)) * PER_LOG + 0.5)
   counters.add(histogram.place + math.min(bucket, BUCKETS - 1), 1)
   counters.add(histogram.sum, value)
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

-- Of all threads since the run began.
function counters.total(name)
   return sum(places[name])
end

-- The row of what reports of a kind have printed; it may be read and written by place.
function counters.reported(kind)
   return block + (sysbench.opt.threads + counters.KINDS[kind]) * stride
end

-- What was counted since the last report of the kind, by name.
function counters.news(kind)
   local reported, found = counters.reported(kind), {}
   for place, name in ipairs(names) do
      local now = sum(place - 1)
      found[name] = now - reported[place - 1]
      reported[place - 1] = now
   end
   return found
end

-- The buckets of a histogram that got something since the last report of the kind: {{value in ms, count}, …}.
function counters.new_buckets(histogram, kind)
   local reported, found = counters.reported(kind), {}
   for bucket = 0, BUCKETS - 1 do
      local place = histogram.place + bucket
      local now = sum(place)
      if now > reported[place] then
         found[#found + 1] = { value_of(bucket), now - reported[place] }
         reported[place] = now
      end
   end
   return found
end

-- Value and number of events; nothing without events. As sysbench takes one: the share is rounded to whole events.
function counters.percentile(buckets, percent)
   local total, seen = 0, 0
   for _, bucket in ipairs(buckets) do
      total = total + bucket[2]
   end
   local share = math.floor(total * percent / 100 + 0.5)
   for _, bucket in ipairs(buckets) do
      seen = seen + bucket[2]
      if seen >= share then
         return bucket[1], total
      end
   end
end

return counters
