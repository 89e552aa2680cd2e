#!/usr/bin/env node
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { po } from 'gettext-parser';

/**
 * Prints each message in English and Czech, with its catalog: to read them all, and to compare the
 * two.
 */

const folder = join(import.meta.dirname, '..', 'src', 'language', 'cs');

const lines = [];
for (const file of readdirSync(folder).sort()) {
  const { '': header, ...messages } =
    po.parse(readFileSync(join(folder, file))).translations[''] ?? {};
  for (const [index, { msgid, msgid_plural: plural, msgstr }] of Object.values(
    messages,
  ).entries()) {
    const english = plural === undefined ? msgid : `${msgid} | ${plural}`;
    lines.push(`${index + 1} (${file})`, `  en  ${english}`, `  cs  ${msgstr.join(' | ')}`);
  }
}
process.stdout.write(`${lines.join('\n')}\n`);
