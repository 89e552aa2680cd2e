import type { CheckResult } from '../conformance/check.ts';
import { main } from '../conformance/main.ts';
import type { RunningMock } from '../support/mock-process.ts';

export type ConformanceRun = {
  readonly code: number;
  readonly results: readonly CheckResult[];
  /** Output beside the results: the summary, or the reason why no request was made. */
  readonly last: Readonly<Record<string, unknown>>;
  /** Clauses that were broken, in order of their ids. */
  readonly broken: readonly string[];
};

type Addresses = Pick<RunningMock, 'base_url' | 'oai_base'>;

const ACCOUNTS = {
  PAS_USERNAME: 'archaeologist',
  PAS_PASSWORD: 'archaeologist',
  PAS_RESEARCHER_USERNAME: 'researcher',
  PAS_RESEARCHER_PASSWORD: 'researcher',
};

/** The suite against a deployment, with these flags, in this process. */
export async function conform(
  flags: readonly string[],
  environment: NodeJS.ProcessEnv = ACCOUNTS,
): Promise<ConformanceRun> {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const code = await main(['node', 'pas-conformance', '--json', ...flags], environment, (line) =>
    lines.push(JSON.parse(line)),
  );
  const results = lines.filter(({ type }) => type === 'check') as unknown as readonly CheckResult[];
  const broken = new Set(
    results.filter(({ result }) => result === 'break').map(({ clause_id }) => clause_id),
  );
  return { code, results, last: lines.at(-1) ?? {}, broken: [...broken].sort() };
}

/** Flags for reading from a mock without a minimum interval. */
export function listReading({ base_url, oai_base }: Addresses): string[] {
  return ['--base-url', base_url, '--oai-base', oai_base, '--interval-ms', '0', '--pause-ms', '20'];
}

/** Flags for all that can be asked of it. */
export function listEverything(mock: Addresses): string[] {
  const projects = ['--project', 'C-202400101', '--foreign-project', 'M-202300316'];
  return [...listReading(mock), '--write', new URL(mock.base_url).host, ...projects];
}
