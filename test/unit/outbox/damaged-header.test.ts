import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PasError } from '../../../src/base/errors.ts';
import { openLedger } from '../../../src/outbox/ledger.ts';
import { openOutbox } from '../../../src/outbox/open-outbox.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const HEADER_BYTES = 100;
const clock = manualClock();
const openers = {
  ledger: (path: string) => openLedger(path),
  outbox: (path: string) =>
    openOutbox(path, clock, {
      binding: {
        kind: 'training',
        address: 'https://service.example',
        username: null,
      },
    }),
};

test.each(Object.entries(openers))(
  'each changed byte in the header of %s is read, or refused with a remedy',
  (name, open) => {
    const path = join(tempFolder(), `${name}.sqlite`);
    open(path).close();
    const sound = readFileSync(path);
    const faults: unknown[] = [];
    for (let at = 0; at < HEADER_BYTES; at += 1)
      for (const value of [0, 5, 255]) {
        const damaged = Buffer.from(sound);
        damaged[at] = value;
        writeFileSync(path, damaged);
        try {
          open(path).close();
        } catch (thrown) {
          if (!(thrown instanceof PasError)) faults.push([at, value, String(thrown)]);
        }
      }
    expect(faults).toEqual([]);
  },
);
