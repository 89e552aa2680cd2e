import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isRedisAddressFault,
  parseRedisAddress,
} from '../../../src/service/http/redis-pace-store.ts';
import { inWords } from '../../support/in-words.ts';

test.each([
  [
    'redis://pace.example.org',
    { tls: false, host: 'pace.example.org', port: 6379, database: 0, username: undefined },
  ],
  [
    'redis://192.0.2.10:7000/3',
    { tls: false, host: '192.0.2.10', port: 7000, database: 3, username: undefined },
  ],
  [
    'rediss://pas@pace.example.org:6380/',
    { tls: true, host: 'pace.example.org', port: 6380, database: 0, username: 'pas' },
  ],
  [
    'redis://[2001:db8::1]:6379/1',
    { tls: false, host: '2001:db8::1', port: 6379, database: 1, username: undefined },
  ],
])('%s is read', (text, address) => {
  expect(parseRedisAddress(text)).toEqual(address);
});

test.each([
  'redis',
  'http://pace.example.org',
  'redis://',
  'redis:///0',
  'redis://host:0',
  'redis://host:99999',
  'redis://host/one',
  'redis://host/0?password=x',
  'redis://host/0#x',
  'redis://host/-1',
])('%s is refused', (text) => {
  expect(inWords(parseRedisAddress(text))).toMatchObject({
    message: 'must be local or the address of a Redis',
  });
});

test('an address with a password is refused, and no refusal repeats any of it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), fc.constantFrom('', 'eva'), (password, user) => {
      const text = `redis://${user}:${password}@pace.example.org/0`;
      const read = parseRedisAddress(text);
      if (!isRedisAddressFault(read)) throw new Error(`${text} was taken`);
      if (password.trim().length >= 8)
        expect(`${read.message}${read.hint}`).not.toContain(password);
    }),
  );
  expect(inWords(parseRedisAddress('rediss://:hunter2@pace.example.org'))).toMatchObject({
    message: expect.stringContaining('contains a password'),
  });
});
