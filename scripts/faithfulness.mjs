// Writes docs/mock-faithfulness.md: how the contract, the deployed service and the mock differ. With --check it only says whether it is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { HARVEST_QUIRKS } from '../dist/mock-server/oai/quirks.js';
import { QUIRKS } from '../dist/mock-server/quirks.js';

const PAGE = new URL('../docs/mock-faithfulness.md', import.meta.url);
const README = readFileSync(new URL('../mock-server/README.md', import.meta.url), 'utf8');

/** The test of each row of the README, by what the row begins with: a file of test/contract, and a title in it. */
const TESTS = [
  ['token payload', 'token', 'one token per account: asked again it is the same, with its old age'],
  ['form of identifiers', 'variability', 'number 0 is as the deployed service: page size 100, identifiers with -N'],
  ['wording of messages', 'access', 'Czech is the default, English is given when preferred'],
  [
    'a record or element that',
    'visibility-elements',
    'is left out for anonymous readers and researchers, from whom it is always hidden',
  ],
  [
    'one that only this reader',
    'visibility-records',
    'is returned, when asked for by its identifier, with the refusal in place of its content',
  ],
  ['an argument that', 'harvest-errors', 'from is in a year that no schema knows'],
  [
    '`X-Forwarded-For`',
    'access',
    'where every entry is a trusted proxy, nobody else is named: the connection’s own address counts',
  ],
  ['dates shorter', 'harvest-errors', 'from is a year only'],
  ['parts of one form', 'import-gates', 'thousands of %s in one form answer 400'],
  ['entities declared', 'import-schema', 'case 18: a reference to an entity (%s) is not read'],
  ['records per page', 'variability', 'number 0 is as the deployed service: page size 100, identifiers with -N'],
  ['photograph types', 'photograph', '%s is accepted and stored byte for byte'],
  ['generated file names', 'photograph', 'after F99 there is no further name: 422'],
  ['which projects', 'import-fields', 'case 33: a Researcher without active cooperation answers 403'],
  ['a number with a character', 'registration-number', '500: no record can be written of %j, and none is changed'],
  ['a namespace twice', 'import-silent', 'that names the namespace twice is judged by the last pair'],
  ['blanks as CDATA', 'import-silent', 'may have blanks between its elements as CDATA'],
  [
    'a depth of very many',
    'import-silent',
    'with a depth of a thousand digits gets 422, and with as many zeros in front its depth counts',
  ],
  ['a part whose file name', 'import-silent', 'named %j is no file'],
  ['an empty `allowed', 'import-silent', 'an empty list of schema versions allows what no list allows'],
  ['blanks round', 'import-silent', 'blanks round a user name do not count, but a password is taken as it is'],
  ['a method of the user', 'import-silent', 'user information is for GET alone'],
  ['a body that waits', 'request-forms', 'is asked for where nothing in the head speaks against it'],
  ['The parts of a form', 'import-silent', 'is taken as it stands, in Base64 or under a long head'],
  ['User rules are met', 'quirks', 'a user rule is met in any case'],
  ['several findings', 'import-fields', 'case 36: all wrong references are reported together'],
  ['a number in the WKT', 'import-success', 'the spelling "%s" is understood'],
  ['the proxy’s limit', 'transport', '413 with a page: a body above the proxy’s limit'],
  ['It finds viruses', 'photograph', '422: the antivirus test string, wherever it stands; not with the scanner off'],
  ['GPS blocks', 'photograph-gps', 'the directory that held the pointer is still well formed'],
  ['Thumbnails', 'photograph', 'the stored bytes can be fetched at the url of the soubor'],
  ['With `index_delay_ms`', 'harvest-datestamps', 'appears late, under the time of its change'],
  [
    'The other coordinates',
    'import-success',
    'the pair of the deployed service at $lon $lat is met within $offM m in both directions',
  ],
  ['Cadastral areas', 'harvest-seed', 'has every entity, and every record is valid in every version'],
];
/** No difference in what is answered. */
const NO_ANSWER = /^Passwords/;

function testOf(row) {
  const plain = row.replaceAll("'", '’');
  const [, file, title] = TESTS.find(([start]) => plain.startsWith(start)) ?? [];
  if (file === undefined) throw new Error(`no test is named for "${row}" of mock-server/README.md`);
  return named(file, title);
}

const named = (file, title) => `\`test/contract/${file}.test.ts\`: ${title}`;
const row = (...cells) => `| ${cells.join(' | ')} |`;
const section = (title) => README.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

const quirks = Object.entries(QUIRKS).map(([quirk, text]) =>
  row(`\`${quirk}\``, text, named(quirk in HARVEST_QUIRKS ? 'harvest-deployed' : 'quirks', quirk)),
);
const open = section('What the contract does not say, and how it is filled')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| open point'))
  .map((line) => {
    const [point, filled] = line.slice(2, -2).split(' | ');
    return row(point, filled, testOf(point));
  });
const otherwise = section('What it does not pretend to be')
  .split('\n- ')
  .slice(1)
  .map((bullet) => bullet.trim().replace(/\s*\n\s*/g, ' '))
  .filter((bullet) => !NO_ANSWER.test(bullet))
  .map((bullet) => row(bullet, testOf(bullet)));

const page = [
  '# How faithful the mock server is',
  '',
  '<!-- Written by `npm run reference` from quirks.ts, oai/quirks.ts and README.md of the mock server. Do not edit. -->',
  '',
  '## Deployed service against contract',
  '',
  'The mock does as the contract says; with `--deployed` it does this.',
  '',
  '| name | the deployed service | test |',
  '|---|---|---|',
  ...quirks,
  '',
  '## What the contract leaves open',
  '',
  '| open point | the mock | test |',
  '|---|---|---|',
  ...open,
  '',
  '## Mock against both',
  '',
  '| the mock | test |',
  '|---|---|',
  ...otherwise,
  '',
].join('\n');

const isStale = !existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page;
if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
else if (isStale) {
  process.stderr.write('Stale: docs/mock-faithfulness.md. Run npm run reference.\n');
  process.exitCode = 1;
}
