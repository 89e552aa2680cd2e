import { expect, test } from 'vitest';
import { makeNextLocalId } from '../../../src/finds/find.ts';

test.each([
  [['K-017', 'K-016'], 'K-018'],
  [['K-017'], 'K-018'],
  [['K-099'], 'K-100'],
  [['KH24-003', 'KH24-002'], 'KH24-004'],
  [['9'], '10'],
  [['17/2024'], '18/2024'],
  [['K-5-b'], 'K-6-b'],
  [['sonda 2 nález 7'], 'sonda 2 nález 8'],
  [['nález'], 'nález-2'],
  [['row-0123456789abcdef', 'K-017'], 'K-018'],
  [['uuid:0f8fad5b-d9cb-469f-a165-70867728950e', 'K-017'], 'K-018'],
  [
    ['0F8FAD5B-D9CB-469F-A165-70867728950E', 'e02fd0e4-00fd-090A-ca30-0d00a0038ba0', 'K-017'],
    'K-018',
  ],
  [['uuid:0f8fad5b-d9cb-469f-a165-70867728950e'], '001'],
  [[], '001'],
])('after %j comes %s', (latest, expected) => {
  expect(makeNextLocalId(latest, (id) => latest.includes(id))).toBe(expected);
});

test('used numbers are skipped', () => {
  expect(makeNextLocalId(['K-017'], (id) => ['K-017', 'K-018', 'K-019'].includes(id))).toBe(
    'K-020',
  );
});
