import { defineScript } from './redis-client.ts';

/*
 * The keys of every script:
 *   1. a hash of the records: `<expiresAt or nothing>|<value>`, and of the id of the store
 *   2. a sorted set of their keys, all with score 0, which lists them in the order of their bytes
 *   3. a sorted set of the keys that expire, by when they do
 *   4. a sorted set of the commits that were made, by their deadline
 */

/**
 * No key of a record has a blank. The id lies with the records, so that it is lost whenever they are: flushed, evicted,
 * or on a server that has another history.
 */
const idField = 'store id';

/** The first argument is the known id (empty: none). A script that finds a loss does nothing else. */
const refuseLoss = `
local id = redis.call('HGET', KEYS[1], '${idField}')
local count = redis.call('HLEN', KEYS[1])
if id then count = count - 1 end
if count ~= redis.call('ZCARD', KEYS[2]) or (ARGV[1] ~= '' and ARGV[1] ~= id) then return {'lost'} end`;

const time = `
local clock = redis.call('TIME')
local time = clock[1] * 1000 + math.floor(clock[2] / 1000)`;

/**
 * Arguments: the known id, an id for a store that has none, and the keys of records. Returns the id, the time of the
 * server, and the records.
 */
export const readScript = defineScript(`${refuseLoss}${time}
if not id then
  id = ARGV[2]
  redis.call('HSET', KEYS[1], '${idField}', id)
end
return {id, string.format('%.0f', time), redis.call('HMGET', KEYS[1], unpack(ARGV, 3))}`);

/**
 * Writes if everything is as it was read. Clients may send it again after a lost connection, so it is made once for each
 * id, and not after its deadline: by then the id is forgotten.
 *
 * Arguments: the known id of the store; id of the commit, deadline by the clock of the server, time of the process, grace in milliseconds, number of records to
 * clean, number of records read; of each key and record (empty: none); of what is written key, expiry (empty: none) and
 * record (empty: delete).
 */
export const commitScript = defineScript(`${refuseLoss}${time}
local records, keys, expiries, commits = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.call('ZSCORE', commits, ARGV[2]) then return {'committed'} end
if time > tonumber(ARGV[3]) then return {'late'} end
local first = 8
for index = 1, tonumber(ARGV[7]) do
  if (redis.call('HGET', records, ARGV[first]) or '') ~= ARGV[first + 1] then return {'conflict'} end
  first = first + 2
end
local function delete(key)
  redis.call('HDEL', records, key)
  redis.call('ZREM', keys, key)
  redis.call('ZREM', expiries, key)
end
-- A process whose clock is wrong does not delete what is still good for others: the server has to agree.
local cutoff = math.min(time, tonumber(ARGV[4])) - tonumber(ARGV[5])
local expired = redis.call('ZRANGEBYSCORE', expiries, '-inf', string.format('(%.0f', cutoff), 'LIMIT', 0, ARGV[6])
for _, key in ipairs(expired) do delete(key) end
for index = first, #ARGV, 3 do
  local key, expiry, record = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  if record == '' then
    delete(key)
  else
    redis.call('HSET', records, key, record)
    redis.call('ZADD', keys, 0, key)
    if expiry == '' then redis.call('ZREM', expiries, key) else redis.call('ZADD', expiries, expiry, key) end
  end
end
redis.call('ZREMRANGEBYSCORE', commits, '-inf', string.format('(%.0f', time))
redis.call('ZADD', commits, ARGV[3], ARGV[2])
return {'committed'}`);

/**
 * Arguments: the known id, least and greatest key as ZRANGEBYLEX takes them, most records, time of the process. Returns
 * the id (empty: none), where to go on (empty: at the end), and key and record of each.
 */
export const listScript = defineScript(`${refuseLoss}
local page = 1000
local found, last = {}, ''
local keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[2], ARGV[3], 'LIMIT', 0, page)
for index, key in ipairs(keys) do
  local record = redis.call('HGET', KEYS[1], key)
  local expiry = record and tonumber(string.match(record, '^(%d+)|'))
  if record and not (expiry and expiry <= tonumber(ARGV[5])) then
    found[#found + 1] = key
    found[#found + 1] = record
  end
  if #found == 2 * tonumber(ARGV[4]) or index == page then
    last = key
    break
  end
end
return {id or '', last, found}`);

/** Returns what Redis tells of its memory and its disk. */
export const settingsScript = defineScript(`
local told = ''
for _, section in ipairs({'memory', 'persistence'}) do
  local info = redis.pcall('INFO', section)
  if type(info) == 'string' then told = told .. info end
end
return told`);
