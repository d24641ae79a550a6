-- How long a request waits until the server takes it in charge: NOW(6) is when a statement began on the server's
-- clock. How far that clock is ahead is measured on an idle connection, before the load and after it.

package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua;" .. package.path
local splash = require("splash")

local WAIT = splash.histogram("client.execution_latency")
local BEFORE = splash.counter("offset.before") -- s
local TRIP = splash.counter("offset.trip") -- s
local NEGATIVE = splash.counter("negative")
local PINGS = 200
local ASK = "SELECT UNIX_TIMESTAMP(NOW(6))"

-- The round trip that was shortest says most: the server's time fell within it. Returns offset and round trip, s.
local function offset()
   local best, shortest
   for _ = 1, PINGS do
      local sent = splash.now()
      local served = tonumber(splash.setup(ASK)[1][1])
      local received = splash.now()
      if not shortest or received - sent < shortest then
         shortest = received - sent
         best = served - (sent + received) / 2
      end
   end
   return best, shortest
end

local ahead

splash.workload {
   options = {
      rows = { "rows of the table", 10000 },
      updates = { "updates in 100 requests", 20 },
   },
   tables = function() return { "served" } end,
   pieces = function() return 1 end,
   make = function(con)
      con:query [[CREATE TABLE served (id INT NOT NULL PRIMARY KEY, times INT NOT NULL, note VARCHAR(100) NOT NULL)
         ENGINE=InnoDB]]
      splash.fill(con, "served", 1, sysbench.opt.rows, function(id)
         return string.format("(%d,0,'%s')", id, splash.text(60))
      end)
   end,
   start = function()
      splash.setup("SET time_zone = '+00:00'")
      local best, trip = offset()
      splash.add(BEFORE, best)
      splash.add(TRIP, trip)
   end,
   thread = function()
      splash.setup("SET time_zone = '+00:00'")
      ahead = splash.total("offset.before")
   end,
   event = function()
      local id = sysbench.rand.default(1, sysbench.opt.rows)
      if sysbench.rand.uniform(1, 100) <= sysbench.opt.updates then
         splash.write("UPDATE served SET times = times + 1 WHERE id = " .. id)
      end
      local sent = splash.now()
      local served = splash.row("SELECT UNIX_TIMESTAMP(NOW(6)), times, note FROM served WHERE id = " .. id)
      local wait = tonumber(served) - ahead - sent
      if wait < 0 then
         splash.add(NEGATIVE, 1)
      end
      splash.observe(WAIT, wait * 1000)
   end,
   final = function()
      local before, trip = splash.total("offset.before"), splash.total("offset.trip")
      local after, last_trip = offset()
      local drift = after - before
      return {
         ["client.clock.offset"] = before * 1000,
         ["client.clock.drift"] = drift * 1000,
         ["client.clock.uncertainty"] = (math.max(trip, last_trip) / 2 + math.abs(drift)) * 1000,
         ["client.clock.negative"] = splash.total("negative"),
      }
   end,
}
