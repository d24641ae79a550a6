-- Connections that wait for the server's greeting in vain. A full accept queue drops the handshake's last packet: for
-- the client the connection is open, the server does not know of it, and sysbench's driver sets no timeout.

local ffi = require("ffi")

ffi.cdef [[
typedef struct {
   uint8_t state, congestion, retransmits, probes, backoff, others[3];
   uint32_t before[11], last_data_received, after[12]; /* ms */
   uint64_t rates[3], bytes_received;
} splash_tcp; /* the beginning of Linux's struct tcp_info */
int getsockopt(int descriptor, int level, int name, void *value, uint32_t *size);
int shutdown(int descriptor, int how);
]]

local TCP, INFO, BOTH_WAYS = 6, 11, 2
local ESTABLISHED, SYN_SENT = 1, 2
local OTHER_FILES = 64 -- more than sysbench has open beside a connection for each thread

local greeting = { PATIENCE = 5 } -- s

local info, size = ffi.new("splash_tcp"), ffi.new("uint32_t[1]")

-- s without a word of the server; 0 once it has greeted.
local function waiting()
   if info.state == SYN_SENT then
      -- Linux sends the first packet again after 1 s, newer ones a few times so, then after twice as long each time.
      return info.retransmits - info.backoff + 2 ^ info.backoff - 1
   end
   local is_silent = info.state == ESTABLISHED and info.bytes_received == 0
   return is_silent and info.last_data_received / 1000 or 0 -- without any data: since it was established
end

-- Ends those of all threads, to whom the connection is then refused. Returns how many.
function greeting.give_up()
   local given_up = 0
   for descriptor = 3, sysbench.opt.threads + OTHER_FILES do
      size[0] = ffi.sizeof(info)
      local is_tcp = ffi.C.getsockopt(descriptor, TCP, INFO, info, size) == 0 and size[0] == ffi.sizeof(info)
      if is_tcp and waiting() >= greeting.PATIENCE then
         ffi.C.shutdown(descriptor, BOTH_WAYS)
         given_up = given_up + 1
      end
   end
   return given_up
end

return greeting
