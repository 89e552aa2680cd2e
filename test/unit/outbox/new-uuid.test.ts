import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeUuid } from '../../../src/outbox/facts.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const moments = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test('a later identifier sorts after an earlier one, so that an index grows at its end', () => {
  fc.assert(
    fc.property(moments, moments, (one, other) => {
      const earlier = Math.min(one, other);
      const later = Math.max(one, other);
      const first = makeUuid(earlier);
      const second = makeUuid(later);
      for (const uuid of [first, second]) expect(uuid).toMatch(UUID_7);
      if (earlier < later) expect(first < second).toBe(true);
    }),
  );
});
