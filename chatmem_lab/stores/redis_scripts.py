"""What runs on the Redis server: each read and each write of a session is one script."""

__all__ = ["DELETE", "READ", "WRITE"]

# Every script begins with what is under the key: nothing, this very session, or something
# else, which is left alone. The number of fields bounds the loops below.
_LOOK = """
local key, id = KEYS[1], ARGV[1]
local ttl, sliding, again = ARGV[2], ARGV[3] == '1', ARGV[4] == '1'
local first, version = 1, 0
local kind = redis.call('TYPE', key).ok
if kind == 'hash' then
  local held = redis.call('HMGET', key, 'format', 'id', 'first', 'version')
  if not held[1] or not held[2] then return {'foreign', 'hash'} end
  if held[2] ~= id then return {'other', held[2]} end
  if held[1] ~= '1' then return {'format', held[1]} end
  first, version = tonumber(held[3] or ''), tonumber(held[4] or '')
  if not first or not version or redis.call('HLEN', key) ~= version - first + 5 then
    return {'damaged'}
  end
elseif kind ~= 'none' then
  return {'foreign', kind}
end
local function text(number) return string.format('%.0f', number) end
"""

READ = (
    _LOOK
    + """
local reply = {'done', text(version)}
for number = math.max(first, tonumber(ARGV[5]) + 1), version do
  reply[#reply + 1] = redis.call('HGET', key, text(number))
end
if kind == 'hash' and sliding and ttl ~= '' then redis.call('PEXPIRE', key, ttl) end
return reply
"""
)

# A write that was sent again, since the connection broke, may be there already.
WRITE = (
    _LOOK
    + """
local known, new, keep = ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1'
local begin = new - (#ARGV - 8)
if again and redis.call('HGET', key, text(begin)) == ARGV[8] then return {'done'} end
if text(version) ~= known then return {'conflict', text(version)} end
if not keep then
  for number = first, version do redis.call('HDEL', key, text(number)) end
end
if not keep or kind == 'none' then
  redis.call('HSET', key, 'format', '1', 'id', id, 'first', text(begin))
end
for at = 8, #ARGV do redis.call('HSET', key, text(begin + at - 8), ARGV[at]) end
redis.call('HSET', key, 'version', text(new))
if ttl == '' then
  redis.call('PERSIST', key)
elseif sliding or redis.call('PTTL', key) == -1 then
  redis.call('PEXPIRE', key, ttl)
end
return {'done'}
"""
)

DELETE = _LOOK + "return {'done', redis.call('DEL', key)}"
