import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFindSchema, readBundledSchema } from '../dist/src/finds/document.js';
import { onPath, ROOT } from './measure.mjs';

export const title = 'validation of 10,000 documents against the schema';

const DOCUMENTS = 10_000;
/** One document of so many has a fault. */
const FAULTY_EACH = 50;
/** The one that the examples name. */
const PROFILE = {
  schemaBase: 'http://127.0.0.1:8099/schema/svc',
  prefix: 'svc',
  schemaVersion: '2.2',
};

export async function run(bench) {
  const folder = join(bench.folder, 'documents');
  cpSync(join(ROOT, 'schemas'), folder, { recursive: true });
  const schemaPath = join(folder, 'svc', '2.2', 'svc.xsd');
  writeFileSync(schemaPath, (await readBundledSchema(PROFILE)).bytes);
  const templates = [1, 2, 3].map((state) =>
    readFileSync(join(ROOT, 'examples', `find-state-${state}.xml`), 'utf8'),
  );
  const paths = Array.from({ length: DOCUMENTS }, (_, n) => {
    const path = join(folder, `${n}.xml`);
    const document = templates[n % templates.length].replace(
      /(<svc:(?:poznamka|lokalizace)[^>]*>)[^<]*/g,
      `$1nález ${n}`,
    );
    writeFileSync(
      path,
      n % FAULTY_EACH === 0 ? document.replace(/(<svc:stav>)\d/, '$1x') : document,
    );
    return path;
  });
  const startedMs = performance.now();
  const schema = await openFindSchema(PROFILE);
  const invalid = paths.filter((path) => schema.check(readFileSync(path)).length > 0).length;
  const ownSeconds = (performance.now() - startedMs) / 1000;
  bench.say(`  pas: ${ownSeconds.toFixed(2)} s, ${invalid} of ${DOCUMENTS} invalid`);
  if (!onPath('xmllint')) return bench.say('  xmllint is not installed: nothing to compare with');
  const otherStartedMs = performance.now();
  const run = spawnSync('xmllint', ['--nonet', '--noout', '--schema', schemaPath, ...paths], {
    maxBuffer: 1 << 30,
    encoding: 'utf8',
  });
  const otherSeconds = (performance.now() - otherStartedMs) / 1000;
  const fails = run.stderr.split('\n').filter((line) => line.endsWith('fails to validate')).length;
  if (fails !== invalid)
    throw new Error(`xmllint finds ${fails} invalid, pas ${invalid}: ${run.stderr.slice(0, 500)}`);
  bench.verdict(`validation of ${DOCUMENTS} documents`, {
    figure: `${ownSeconds.toFixed(2)} s`,
    against: `xmllint ${otherSeconds.toFixed(2)} s`,
    ratio: otherSeconds / ownSeconds,
    target: 0.5,
  });
}
