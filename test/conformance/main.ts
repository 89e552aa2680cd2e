import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type CheckResult, NotTraining, Outage } from './check.ts';
import { CLAUSES } from './clauses.ts';
import { Line } from './line.ts';
import { type Account, Scene, type SceneOptions } from './scene.ts';
import { CHECKS, runChecks } from './suite.ts';
import { makeTenant } from './tenant.ts';
import { isDouble, isPrivate, whyNotWrite } from './training.ts';
import { signIn } from './writes.ts';

type Flags = {
  readonly baseUrl: string;
  readonly oaiBase?: string;
  readonly schemaBase?: string;
  readonly prefix: string;
  readonly schemaVersion: string;
  readonly project?: string;
  readonly foreignProject?: string;
  readonly write?: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly pauseMs: number;
  readonly only?: string;
  readonly json?: boolean;
};

/** As docs/running.md has them for `pas`. */
const EXIT = { pass: 0, usage: 2, signIn: 4, outage: 5, break: 15 } as const;

/** The program `pas-conformance`. @returns its exit code */
export async function main(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  let exit: number = EXIT.pass;
  const program = new Command('pas-conformance')
    .description(
      'Compares a deployment of the finds service with its contract, clause by clause. Reads only, unless --write names the host.',
    )
    .requiredOption('--base-url <url>', 'the write interface', address)
    .option('--oai-base <url>', 'the harvesting interface', address)
    .option(
      '--schema-base <url>',
      'where the schemas of imports lie (default: as the harvesting interface says)',
      address,
    )
    .option('--prefix <name>', 'prefix of XML names and of the native format', 'svc')
    .option('--schema-version <x.y>', 'of the import document', '2.2')
    .option(
      '--write <host>',
      'also make finds in the training instance at this host; nothing can delete them',
    )
    .option('--project <ident>', 'survey project that finds are made in')
    .option('--foreign-project <ident>', 'project that the account may not import into')
    .option(
      '--interval-ms <ms>',
      'time between requests; 0 where the deployment has no minimum interval',
      wholeNumber,
      120,
    )
    .option('--timeout-ms <ms>', 'longest wait for an answer', wholeNumber, 60_000)
    .option('--pause-ms <ms>', 'before a request is repeated', wholeNumber, 1000)
    .option(
      '--only <text>',
      'only checks whose id or clause (A-NUMBER-2, or in words) holds this text',
    )
    .option('--json', 'print one JSON object a line for each check, and one for the whole')
    .addHelpText(
      'after',
      '\nA mock server of this machine needs nothing else than --base-url.' +
        '\nAccounts: PAS_USERNAME and PAS_PASSWORD; for what a Researcher may not do, PAS_RESEARCHER_USERNAME and PAS_RESEARCHER_PASSWORD.' +
        '\nExit codes: 0 nothing broke, 2 wrong usage, 4 the sign-in was refused, 5 no answer, 15 the contract was broken.\n' +
        '\nExamples:\n  pas-conformance --base-url https://finds.example.org --oai-base https://api.example.org' +
        '\n  pas-conformance --base-url https://training.example.org --oai-base https://api.example.org \\' +
        '\n    --write training.example.org --project C-202400101\n',
    )
    .showHelpAfterError('Example: pas-conformance --base-url http://127.0.0.1:8099')
    .exitOverride()
    .action(async (flags: Flags) => {
      exit = await run(flags, environment, print);
    });
  try {
    await program.parseAsync([...argv]);
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return thrown.exitCode === 0 ? EXIT.pass : EXIT.usage;
  }
  return exit;
}

async function run(
  given: Flags,
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  const account = accountIn(environment, 'PAS');
  const isReadingOnly = given.write === undefined && account === undefined;
  const tenant = isReadingOnly ? await makeTenant(given.baseUrl) : undefined;
  if (tenant === undefined) return runFor(given, environment, print);
  if (given.json !== true)
    print(
      `A mock server: everything is checked in ${tenant.baseUrl}, which is removed at the end.\n`,
    );
  try {
    return await runFor({ ...given, ...tenant.flags }, tenant.accounts, print);
  } finally {
    await tenant.remove();
  }
}

async function runFor(
  flags: Flags,
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  const say = (value: object, line: string): void =>
    print(flags.json === true ? JSON.stringify(value) : line);
  const stop = (code: number, message: string): number => {
    say({ type: 'exit', code, message }, `pas-conformance: ${message}`);
    return code;
  };
  const line = new Line(
    flags,
    { fetch, now: () => performance.now(), sleep: (ms) => sleep(ms) },
    async (probeLine) => {
      const { status } = await probeLine.once({ url: probe }).catch(() => ({ status: 0 }));
      return status > 0 && status < 500;
    },
  );
  const probe =
    flags.oaiBase === undefined
      ? `${flags.baseUrl}/api/uzivatel-info/`
      : `${flags.oaiBase}/2.2/oai?verb=Identify`;
  const options: SceneOptions = {
    ...flags,
    account: accountIn(environment, 'PAS'),
    researcher: accountIn(environment, 'PAS_RESEARCHER'),
    isDouble: await isDouble(line, flags.baseUrl),
  };
  const { only } = flags;
  const checks = CHECKS.filter(
    ({ id, clause }) =>
      only === undefined || `${id} ${clause} ${CLAUSES[clause][0]}`.includes(only),
  );
  if (checks.length === 0) return stop(EXIT.usage, `no check holds "${flags.only}"`);
  if (options.account !== undefined && !isPrivate(flags.baseUrl))
    return stop(EXIT.usage, `no password is sent to ${flags.baseUrl}: the line is not encrypted`);
  const scene = new Scene(options, line, randomBytes(4).toString('hex'));
  try {
    if (flags.write !== undefined) {
      const why = await whyNotWrite(line, options, flags.write);
      if (why !== undefined) return stop(EXIT.usage, `nothing was written: ${why}`);
    }
    for (const account of [options.account, options.researcher]) {
      if (account === undefined) continue;
      const { status } = await signIn(scene, account);
      if (status >= 400)
        return stop(EXIT.signIn, `${account.username} was not signed in: ${status}`);
    }
  } catch (thrown) {
    if (!(thrown instanceof Outage)) throw thrown;
    if (flags.write !== undefined)
      return stop(EXIT.outage, `nothing was written: ${thrown.message}`);
  }
  const counts = { pass: 0, break: 0, skipped: 0, outage: 0 };
  const skippedFor = new Map<string, number>();
  try {
    for await (const result of runChecks(scene, flags.write !== undefined, checks)) {
      counts[result.result] += 1;
      if (result.result === 'skipped')
        skippedFor.set(result.seen, (skippedFor.get(result.seen) ?? 0) + 1);
      say({ type: 'check', ...result }, getLine(result));
    }
  } catch (thrown) {
    if (!(thrown instanceof NotTraining)) throw thrown;
    return stop(EXIT.usage, `stopped: ${thrown.message}`);
  }
  const summary = `${counts.pass} passed, ${counts.break} broke, ${counts.skipped} skipped, ${counts.outage} without an answer`;
  const reasons = [...skippedFor].map(([why, count]) => `${count} skipped: ${why}\n`);
  say(
    { type: 'summary', ...counts, skipped_for: Object.fromEntries(skippedFor) },
    `\n${reasons.join('')}${summary}`,
  );
  return counts.break > 0 ? EXIT.break : counts.outage > 0 ? EXIT.outage : EXIT.pass;
}

function getLine({ id, clause_id, expected, result, seen }: CheckResult): string {
  const head = `${result.padEnd(7)}  ${id}  [${clause_id}]`;
  if (result === 'pass') return head;
  return result === 'break'
    ? `${head}\n           expected: ${expected}\n           seen:     ${seen}`
    : `${head}\n           ${seen}`;
}

function accountIn(environment: NodeJS.ProcessEnv, name: string): Account | undefined {
  const username = environment[`${name}_USERNAME`];
  const password = environment[`${name}_PASSWORD`];
  return username === undefined || password === undefined ? undefined : { username, password };
}

function address(text: string): string {
  if (!/^https?:\/\/[^\s/]/.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('It must be an address like https://finds.example.org.');
  return text.replace(/\/+$/, '');
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number of milliseconds.');
  return Number(text);
}
