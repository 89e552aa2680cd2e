// Writes docs/mock-faithfulness.md: how the contract, the deployed service and the mock differ.
// With --check it only says whether it is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { QUIRKS } from '../dist/mock-server/rules/quirks.js';

const PAGE = new URL('../docs/mock-faithfulness.md', import.meta.url);
const FOLDER = new URL('../docs/contract/', import.meta.url);
const CONTRACT = readdirSync(FOLDER)
  .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))
  .join('\n');
const README = readFileSync(new URL('../mock-server/README.md', import.meta.url), 'utf8');

/**
 * Clause and test of each row of the README, by the beginning of the row; a test is a file of
 * test/contract and a title in it.
 */
const TESTS = [
  [
    'token payload',
    'A-AUTH-2',
    'token',
    'an account has one token: requested again, it is the same, with its old age',
  ],
  [
    'form of identifiers',
    'A-ASSIGN-1',
    'variability',
    'number 0 is like the deployed service: page size 100, identifiers with -N',
  ],
  [
    'wording of messages',
    'A-ERROR-2',
    'access',
    'Czech is the default; English is sent when preferred',
  ],
  [
    'a record or element that',
    'B-SEE-19',
    'visibility-elements',
    'is left out for anonymous readers and researchers',
  ],
  [
    'one that this reader may not',
    'B-SEE-2',
    'visibility-records',
    'is returned by GetRecord with the refusal in place of its content',
  ],
  ['an argument that', 'B-ERROR-3', 'harvest-errors', 'from is in a year that no schema knows'],
  [
    '`X-Forwarded-For`',
    'A-GATE-10',
    'access',
    'if every entry is a trusted proxy, the connection’s own address counts',
  ],
  ['dates coarser', 'B-DATE-6', 'harvest-errors', 'from is a year only'],
  ['parts of one form', 'A-GATE-14', 'import-gates', 'thousands of %s in one form answer 400'],
  [
    'entities declared',
    'A-IMPORT-8',
    'import-schema',
    'a reference to an entity (%s) is not resolved',
  ],
  [
    'records per page',
    'B-TOKEN-7',
    'variability',
    'number 0 is like the deployed service: page size 100, identifiers with -N',
  ],
  ['photograph types', 'A-PHOTO-6', 'photograph', '%s is accepted and stored byte for byte'],
  ['generated file names', 'A-FILE-1', 'photograph', 'after F99 there is no further name: 422'],
  [
    'which projects',
    'A-PROJECT-4',
    'import-fields',
    'a Researcher without active cooperation answers 403',
  ],
  [
    'a number with a character',
    'A-NUMBER-13',
    'registration-number',
    '500: a record cannot contain %j, and none is changed',
  ],
  ['several findings', 'A-IMPORT-5', 'import-fields', 'all wrong references are reported together'],
  ['a number in the WKT', 'A-POINT-5', 'import-success', 'the spelling "%s" is accepted'],
  [
    'the proxy’s limit',
    'A-WIRE-2',
    'transport',
    '413 with an HTML page: a body above the proxy’s limit',
  ],
  [
    'It detects only the EICAR',
    'A-PHOTO-2',
    'photograph',
    '422: the antivirus test string at any position; accepted with the scanner off',
  ],
  [
    'GPS blocks',
    'A-FILE-3',
    'photograph-gps',
    'the directory that held the pointer stays well formed',
  ],
  [
    'Thumbnails',
    'A-FILE-6',
    'photograph',
    'the stored bytes can be fetched at the url of the soubor',
  ],
  [
    'With `index_delay_ms`',
    'B-DATE-10',
    'harvest-datestamps',
    'appears late, with the time of its change',
  ],
  [
    'a namespace twice',
    'A-DECLARE-3',
    'import-silent',
    'that declares the namespace twice is judged by the last declaration',
  ],
  [
    'whitespace as CDATA',
    'A-DECLARE-1',
    'import-silent',
    'may have blanks between its elements in CDATA',
  ],
  [
    'a depth of very many',
    'A-FIELD-8',
    'import-silent',
    'answers 422 to a depth of a thousand digits, and ignores as many leading zeros',
  ],
  ['a part whose file name', 'A-GATE-14', 'import-silent', 'named %j is not a file'],
  [
    'an empty `allowed',
    'S-VERSION-2',
    'import-silent',
    'an empty list of schema versions allows what no list allows',
  ],
  [
    'spaces around',
    'A-AUTH-1',
    'import-silent',
    'blanks around a user name are ignored, but those of a password count',
  ],
  [
    'a method other than GET',
    'A-USER-3',
    'import-silent',
    'user information is available by GET alone',
  ],
  [
    'a body that waits',
    'A-WIRE-2',
    'request-forms',
    'is requested if nothing in the head forbids it',
  ],
  [
    'a write or sign-in',
    'A-GATE-14',
    'import-silent',
    'without a body are read as a form without fields, whatever its type',
  ],
  [
    'The parts of a form',
    'A-GATE-14',
    'import-silent',
    'is accepted as it is, in Base64 or with a long header',
  ],
  ['User rules match', 'A-GATE-8', 'quirks', 'a user rule matches in any letter case'],
  [
    'The other coordinates',
    'A-POINT-8',
    'import-success',
    'the reference pair of the deployed service at $lon $lat is reproduced within $offM m in both directions',
  ],
  [
    'Cadastral areas',
    'A-POINT-2',
    'harvest-seed',
    'has every entity, and every record is valid in every version',
  ],
];
/** No difference in what is answered. */
const NO_ANSWER = /^Passwords/;

/**
 * A row of the table, with what is known of it: its clause behind the first cell, its test at the
 * end.
 */
function withClauseAndTest(first, ...cells) {
  const plain = first.replaceAll("'", '’');
  const [, clause, file, title] = TESTS.find(([start]) => plain.startsWith(start)) ?? [];
  if (file === undefined)
    throw new Error(`no test is named for "${first}" of mock-server/README.md`);
  return row(first, clause, ...cells, named(file, title));
}

/** The clauses under which docs/contract says that the deployed service does this. */
function findClauses(quirk) {
  const clauses = CONTRACT.split(/^\*\*(?=[ABS]-)/m).filter((text) =>
    text.slice(text.indexOf('> **Deployed:**')).includes(`\`${quirk}\``),
  );
  if (clauses.length === 0)
    throw new Error(`docs/contract says of no clause that ${quirk} departs from it`);
  return clauses.map((text) => text.slice(0, text.indexOf('*'))).join(', ');
}

const named = (file, title) => `\`test/contract/${file}.test.ts\`: ${title}`;
const row = (...cells) => `| ${cells.join(' | ')} |`;
const section = (title) => README.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

const quirks = Object.entries(QUIRKS).map(([quirk, text]) =>
  row(
    `\`${quirk}\``,
    findClauses(quirk),
    text,
    named(quirk.startsWith('oai-') ? 'harvest-deployed' : 'quirks', quirk),
  ),
);
const open = section('What the contract does not say, and how it is filled')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| open point'))
  .map((line) => {
    const [point, filled] = line.slice(2, -2).split(' | ');
    return withClauseAndTest(point, filled);
  });
const otherwise = section('What it does not pretend to be')
  .split('\n- ')
  .slice(1)
  .map((bullet) => bullet.trim().replace(/\s*\n\s*/g, ' '))
  .filter((bullet) => !NO_ANSWER.test(bullet))
  .map((bullet) => withClauseAndTest(bullet));

const page = [
  '# How faithful the mock server is',
  '',
  '<!-- Written by `npm run reference` from rules/quirks.ts and README.md of the mock server, and from docs/contract. Do not edit. -->',
  '',
  '## Deployed service against contract',
  '',
  'The mock does as the [contract](contract/README.md) says; with `--deployed` it does this.',
  '',
  '| name | clause | the deployed service | test |',
  '|---|---|---|---|',
  ...quirks,
  '',
  '## What the contract leaves open',
  '',
  '| open point | clause | the mock | test |',
  '|---|---|---|---|',
  ...open,
  '',
  '## Mock against both',
  '',
  '| the mock | clause | test |',
  '|---|---|---|',
  ...otherwise,
  '',
].join('\n');

const isStale = !existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page;
if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
else if (isStale) {
  process.stderr.write('Stale: docs/mock-faithfulness.md. Run npm run reference.\n');
  process.exitCode = 1;
}
