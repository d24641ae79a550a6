-- One of sysbench's own tests, whose name is in SPLASH_TEST, with its reports as JSON lines.

require(os.getenv("SPLASH_TEST"))

local ffi = require("ffi")

ffi.cdef [[
typedef struct { long seconds, nanoseconds; } splash_moment;
int clock_gettime(int clock, splash_moment *now);
]]

-- s; a checkpoint then empties the histogram of the interval that is under way
local CHECKPOINT = tonumber(os.getenv("SPLASH_CHECKPOINT") or "0")

-- s: each thread marks the first event that ends in each stretch of this length; 0: none does
local MARKS = tonumber(os.getenv("SPLASH_MARKS") or "0")
local MONOTONIC = 1

if MARKS > 0 and event then
   local run_event, moment, last = event, ffi.new("splash_moment"), -1
   function event(...)
      run_event(...)
      ffi.C.clock_gettime(MONOTONIC, moment)
      local place = math.floor((tonumber(moment.seconds) + tonumber(moment.nanoseconds) * 1e-9) / MARKS)
      if place ~= last then
         last = place
         io.stdout:write(string.format("@%d\n", place))
      end
   end
end

local function say(text, ...)
   io.stdout:write(string.format(text, ...) .. "\n")
   io.stdout:flush()
end

local function counts(stat)
   return string.format(
      '{"transactions":%d,"queries":%d,"reads":%d,"writes":%d,"others":%d,"errors":%d,"reconnects":%d}',
      stat.events,
      stat.reads + stat.writes + stat.other,
      stat.reads,
      stat.writes,
      stat.other,
      stat.errors,
      stat.reconnects
   )
end

function sysbench.hooks.report_intermediate(stat)
   local values = {}
   local is_cut = CHECKPOINT > 0 and stat.time_total - stat.time_interval < CHECKPOINT and CHECKPOINT <= stat.time_total
   if stat.events > 0 and not is_cut then
      values[#values + 1] = string.format('"latency.p%d":%.3f', sysbench.opt.percentile, stat.latency_pct * 1000)
   end
   if sysbench.opt.rate > 0 then
      values[#values + 1] = string.format('"queue_length":%d,"concurrency":%d', stat.queue_length, stat.concurrency)
   end
   say(
      '{"kind":"interval","t":%.3f,"seconds":%.4f,"threads":%d,"counts":%s,"values":{%s}}',
      stat.time_total,
      stat.time_interval,
      stat.threads_running,
      counts(stat),
      table.concat(values, ",")
   )
end

function sysbench.hooks.report_cumulative(stat)
   local values = ""
   if stat.events > 0 then
      values = string.format(
         '"latency.p%d":%.3f,"latency.min":%.3f,"latency.avg":%.3f,"latency.max":%.3f',
         sysbench.opt.percentile,
         stat.latency_pct * 1000,
         stat.latency_min * 1000,
         stat.latency_avg * 1000,
         stat.latency_max * 1000
      )
   end
   say(
      '{"kind":"total","from":%.4f,"to":%.4f,"counts":%s,"values":{%s}}',
      math.max(0, stat.time_total - stat.time_interval),
      stat.time_total,
      counts(stat),
      values
   )
end
