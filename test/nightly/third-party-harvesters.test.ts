import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

const run = promisify(execFile);

let service: MockProcess;
/** Counts as the service does for an anonymous account. */
let visible = 0;

beforeAll(async () => {
  service = await startMockProcess();
  const answer = await fetch(
    `${service.oai_base}/2.2/oai?verb=ListIdentifiers&metadataPrefix=oai_dc`,
  );
  visible = Number((await answer.text()).match(/completeListSize="(\d+)"/)?.[1]);
  expect(visible).toBeGreaterThan(500);
});
afterAll(() => service.stop());

/** A missing program is reported by the test; in CI it fails. */
function available(command: string, ...args: string[]): boolean {
  if (process.env['CI'] !== undefined) return true;
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Prints how many sets and records it got. */
const PERL_HARVEST = `
use strict; use HTTP::OAI;
my $harvester = HTTP::OAI::Harvester->new(baseURL => $ARGV[0]);
my ($sets, $records) = (0, 0);
my $list = $harvester->ListSets; die $list->message if $list->is_error;
$sets++ while $list->next;
my $answer = $harvester->ListRecords(metadataPrefix => $ARGV[1], onRecord => sub { $records++ });
die $answer->message if $answer->is_error;
print "$sets $records";
`;

describe.skipIf(!available('perl', '-MHTTP::OAI', '-e1'))(
  'HTTP::OAI of Perl (Debian libhttp-oai-perl)',
  () => {
    test.each([
      ['2.2/oai', 'oai_dc'],
      ['2.0/oai', 'oai_svc'],
      ['oai', 'oai_svc'],
    ])('lists every set and harvests every record from /%s as %s', async (endpoint, format) => {
      const script = join(tempFolder(), 'harvest.pl');
      writeFileSync(script, PERL_HARVEST);
      const { stdout } = await run('perl', [script, `${service.oai_base}/${endpoint}`, format]);
      expect(stdout).toBe(
        `${endpoint === '2.0/oai' ? 17 : 68} ${endpoint === '2.0/oai' ? await visibleIn('2.0') : visible}`,
      );
    });
  },
);

async function visibleIn(version: string): Promise<number> {
  const answer = await fetch(
    `${service.oai_base}/${version}/oai?verb=ListIdentifiers&metadataPrefix=oai_dc`,
  );
  return Number((await answer.text()).match(/completeListSize="(\d+)"/)?.[1]);
}

describe.skipIf(!available('oai-pmh', '--version'))('oai-pmh (npm)', () => {
  test('lists every set and harvests every record', async () => {
    const endpoint = `${service.oai_base}/2.2/oai`;
    expect(await readLines('list-sets', endpoint)).toHaveLength(68);
    expect(await readLines('list-records', endpoint, '-p', 'oai_dc')).toHaveLength(visible);
  });

  // It ends by process.exit, which throws away what still waits for a pipe; a file gets all of it.
  async function readLines(...args: string[]): Promise<string[]> {
    const file = join(tempFolder(), 'lines.jsonl');
    await run('sh', ['-c', 'out=$1; shift; exec oai-pmh "$@" > "$out"', 'sh', file, ...args]);
    return readFileSync(file, 'utf8').trim().split('\n');
  }
});
