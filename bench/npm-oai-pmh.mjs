/**
 * The npm package `oai-pmh`, as a library: the records of a list as JSON lines. Arguments: its
 * folder, endpoint, set, format, file.
 */
import { createWriteStream } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const [home, endpoint, set, metadataPrefix, out] = process.argv.slice(2);
const { OaiPmh } = createRequire(join(home, 'package.json'))('oai-pmh');

async function* lines() {
  for await (const record of new OaiPmh(endpoint).listRecords({ metadataPrefix, set }))
    yield `${JSON.stringify(record)}\n`;
}
await pipeline(Readable.from(lines()), createWriteStream(out));
