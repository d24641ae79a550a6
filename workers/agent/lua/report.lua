-- Reports as JSON lines, in the place of sysbench's own: docs/reference/report-format.md has the grammar.

local counters = require("counters")
local greeting = require("greeting")

local report = {}

-- Codes of errors after which an event is tried again: sysbench does not count them by code.
local RETRIED = {
   { 1213, "deadlock" },
   { 1205, "lock wait timeout" },
   { 1020, "record has changed since last read" },
   { 1412, "table definition has changed" },
   { 1062, "duplicate key" }, -- ends the run but where threads delete and insert the same ids without a transaction
}
-- Statements before the load, which sysbench counts with the rest.
report.SETUP = {
   reads = counters.counter("setup.reads"),
   writes = counters.counter("setup.writes"),
   others = counters.counter("setup.others"),
   unmatched = counters.counter("setup.unmatched"), -- writes among the others
}
report.OPENED = counters.counter("opened")
report.REFUSED = counters.counter("refused")
report.REFUSED_LATER = counters.counter("refused.later") -- connections asked for within a transaction
report.UNMATCHED = counters.counter("unmatched") -- writes that changed no row
report.FAILED = {}
for _, entry in ipairs(RETRIED) do
   report.FAILED[entry[1]] = counters.counter("error." .. entry[1])
end
-- In the row `cut`: a checkpoint fell into the interval under way; connections were given up after the load's time.
local CUT, OUTLIVED = 0, 1

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
function report.say(kind, fields)
   io.stdout:write('{"kind":"' .. kind .. '",' .. encode(fields):sub(2) .. "\n")
   io.stdout:flush()
end

report.workload = {} -- what the script gave to splash.workload

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
   for _, name in ipairs(report.workload.counts or {}) do
      found[name] = new[name]
   end
   return found
end

local function percentile()
   return "latency.p" .. sysbench.opt.percentile
end

-- Adds a histogram's figures to `values`; returns its buckets.
local function describe(histogram, kind, new, values)
   local buckets = counters.new_buckets(histogram, kind)
   for _, percent in ipairs { 50, 95, 99 } do
      local value, count = counters.percentile(buckets, percent)
      if value then
         values[histogram.metric .. ".p" .. percent] = value
         values[histogram.metric .. ".avg"] = new[histogram.metric .. ".sum"] / count
         values[histogram.metric .. ".max"] = buckets[#buckets][1]
      end
   end
   return buckets
end

-- Those not reported yet. sysbench may end the thread that reports intervals at any line it prints.
local function say_errors(t)
   local reported = counters.reported("errors")
   for _, entry in ipairs(RETRIED) do
      local code, words = unpack(entry)
      local place, now = report.FAILED[code], counters.total("error." .. code)
      if now > reported[place] then
         report.say("error", { t = t, code = code, text = words .. ", tried again", count = now - reported[place] })
         reported[place] = now
      end
   end
end

function sysbench.hooks.report_intermediate(stat)
   counters.attach()
   if greeting.give_up() > 0 and stat.time_total > sysbench.opt.time then
      counters.reported("cut")[OUTLIVED] = 1
   end
   local new = counters.news("interval")
   local values = report.workload.interval and report.workload.interval() or {}
   -- A checkpoint empties the histogram of the interval that is under way.
   if stat.events > 0 and counters.reported("cut")[CUT] == 0 then
      values[percentile()] = stat.latency_pct * 1000
   end
   counters.reported("cut")[CUT] = 0
   for _, histogram in ipairs(counters.histograms) do
      describe(histogram, "interval", new, values)
   end
   if sysbench.opt.rate > 0 then
      values.queue_length, values.concurrency = stat.queue_length, stat.concurrency
   end
   report.say("interval", {
      t = stat.time_total,
      seconds = stat.time_interval,
      threads = stat.threads_running,
      counts = counts(stat, new),
      values = values,
   })
   say_errors(stat.time_total)
end

function sysbench.hooks.report_cumulative(stat)
   counters.attach()
   local new = counters.news("total")
   counters.reported("cut")[CUT] = 1
   -- In the main thread, after all others ended; else a checkpoint.
   local is_last = stat.threads_running == 0
   local values = is_last and report.workload.final and report.workload.final() or {}
   if stat.events > 0 then
      values[percentile()] = stat.latency_pct * 1000
      values["latency.min"] = stat.latency_min * 1000
      values["latency.avg"] = stat.latency_avg * 1000
      values["latency.max"] = stat.latency_max * 1000
   end
   if is_last then
      values["client.connections.opened"] = counters.total("opened")
      values["client.connections.refused"] = counters.total("refused")
   end
   local from = math.max(0, stat.time_total - stat.time_interval)
   -- Who only waits for a greeting is no load: its seconds would halve the throughput of a short run.
   local to = counters.reported("cut")[OUTLIVED] == 1 and sysbench.opt.time or stat.time_total
   for _, histogram in ipairs(counters.histograms) do
      local buckets = describe(histogram, "total", new, values)
      if is_last and #buckets > 0 then
         report.say("histogram", { metric = histogram.metric, from = from, to = to, buckets = buckets })
      end
   end
   if is_last then
      say_errors(stat.time_total)
      local reads = counters.total("setup.reads")
      local writes = counters.total("setup.writes") + counters.total("setup.unmatched")
      report.say("note", {
         text = string.format("before the load %d statements read and %d wrote; they are not counted", reads, writes),
         setup = { reads = reads, writes = writes },
      })
   end
   report.say("total", {
      from = from,
      to = to,
      counts = counts(stat, new),
      values = values,
   })
end

return report
