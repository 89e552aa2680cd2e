import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-port.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { inBash, layOut } from '../support/run-page.ts';
import { makeHome, PROJECT } from '../support/run-pas.ts';

type Step = {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
};

const example = (name: string): unknown =>
  parse(readFileSync(join(PROJECT, 'examples', 'ci', name), 'utf8'), { schema: 'failsafe' });

describe('the action', () => {
  const { inputs, runs } = example('action/action.yml') as {
    readonly inputs: Readonly<Record<string, { readonly default: string }>>;
    readonly runs: { readonly using: string; readonly steps: readonly Step[] };
  };

  /** Runs its steps as a runner does, with these inputs, and then one that has what they set. */
  function run(givenInputs: Readonly<Record<string, string>>, then: string): Promise<string> {
    const home = makeHome();
    layOut(home.folder, '8099');
    const value = (text: string): string =>
      text.replace(
        /\$\{\{ inputs\.(\w+) \}\}/g,
        (_all, name: string) => givenInputs[name] ?? inputs[name]?.default ?? '',
      );
    const env = Object.fromEntries(
      runs.steps.flatMap(({ env: own = {} }) =>
        Object.entries(own).map(([name, text]) => [name, value(text)] as const),
      ),
    );
    const lines = runs.steps.map(({ run: line = '' }) => line).join('\n');
    const script = `set -eo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n${lines}\nexport $(cat "$GITHUB_ENV")\n${then}`;
    return inBash(home.folder, script, {
      ...home.env,
      ...env,
      GITHUB_ENV: join(home.folder, 'set'),
    });
  }

  test('starts the mock with the given flags, and passes its address to the next steps', async () => {
    expect(runs.using).toBe('composite');
    const port = String(await freePort());
    const output = await run(
      { port, flags: '--min-interval 0 --seed empty' },
      'curl -sf "$MOCK_CONTROL/state"; echo "$MOCK_SCHEMA_BASE"',
    );
    expect(output).toContain(`"schema_base":"http://127.0.0.1:${port}/schema/svc"`);
    expect(output).toContain('"finds":0');
    expect(output.trim().split('\n').at(-1)).toMatch(`http://127.0.0.1:${port}/schema/svc`);
  });

  test('fails at once if the mock does not start, and says why', async () => {
    const port = String(await freePort());
    const began = performance.now();
    await expect(run({ port, flags: '--no-such-flag' }, 'true')).rejects.toThrow(
      "unknown option '--no-such-flag'",
    );
    // Otherwise it tries for half a minute.
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

test('the job with a service container is YAML, and its lines work on a mock that requires a token', async () => {
  const { jobs } = example('service-container.yml') as {
    readonly jobs: {
      readonly client: {
        readonly services: {
          readonly mock: {
            readonly env: Readonly<Record<string, string>>;
            readonly ports: readonly string[];
          };
        };
        readonly env: Readonly<Record<string, string>>;
        readonly steps: readonly Step[];
      };
    };
  };
  const { services, env, steps } = jobs.client;
  const token = services.mock.env['PAS_MOCK_CONTROL_TOKEN'] ?? '';
  expect(env['MOCK_TOKEN']).toBe(token);
  expect(services.mock.ports).toEqual(['8099:8080']);
  const mock = await startMockProcess('--control-token', token);
  const home = makeHome();
  try {
    const lines = steps.flatMap(({ run }) => run?.replace('make test', 'true') ?? []);
    const script = `set -e\n${lines.join('\n')}\ncat journal.json`;
    const output = await inBash(home.folder, script, {
      ...home.env,
      MOCK_URL: mock.base_url,
      MOCK_TOKEN: token,
    });
    expect(output).toContain('"ip_ms":0');
    expect(output.trim().endsWith('[]')).toBe(true);
  } finally {
    await mock.stop();
  }
});

test.each([
  ['the shell job', 'sh examples/ci/job.sh true'],
  ['the action', ''],
])('%s does not mistake a server left over on its port for its own', async (_name, line) => {
  const left = await startMockProcess();
  const home = makeHome();
  const port = new URL(left.base_url).port;
  try {
    layOut(home.folder, port);
    const env = {
      ...home.env,
      MOCK_PORT: port,
      MOCK_FLAGS: '',
      GITHUB_ENV: join(home.folder, 'set'),
    };
    const { runs } = example('action/action.yml') as {
      readonly runs: { readonly steps: readonly Step[] };
    };
    await expect(
      inBash(home.folder, line === '' ? (runs.steps[0]?.run ?? '') : line, env),
    ).rejects.toThrow(/EADDRINUSE/);
  } finally {
    await left.stop();
  }
});

test('the shell job tests a client in shell', async () => {
  const home = makeHome();
  const port = String(await freePort());
  layOut(home.folder, port);
  const output = await inBash(home.folder, 'sh examples/ci/job.sh sh examples/ci/client-test.sh', {
    ...home.env,
    MOCK_PORT: port,
  });
  expect(output).toContain('ok: a throttled import is sent again, and arrives once');
});

describe('the jobs for CI services', () => {
  const TESTS = 'curl -sf "$MOCK_URL/__mock__/state" -o state.json';

  test('the shell job runs the tests against the mock, keeps the journal, and ends with their exit code', async () => {
    const home = makeHome();
    const port = String(await freePort());
    layOut(home.folder, port);
    const env = { ...home.env, MOCK_PORT: port };
    await inBash(
      home.folder,
      `sh examples/ci/job.sh sh -c '${TESTS}' && cat journal.json state.json`,
      env,
    );
    expect(
      await inBash(
        home.folder,
        'sh examples/ci/job.sh sh -c "exit 7" || echo "ended with $?"',
        env,
      ),
    ).toContain('ended with 7');
  });

  test('the workflow is YAML, and its lines start the mock, run the tests and keep what it uploads', async () => {
    const { jobs } = example('github-actions.yml') as {
      jobs: { client: { env: Record<string, string>; steps: Step[] } };
    };
    const { env, steps } = jobs.client;
    expect(
      steps.map(({ uses, run }) => [uses, run].filter((each) => each !== undefined).length),
    ).toEqual(steps.map(() => 1));
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((each) => !/^actions\/[a-z-]+@v\d+$/.test(each))).toEqual([]);
    const uploaded = steps.flatMap(({ with: given }) => given?.['path']?.trim().split('\n') ?? []);
    expect(uploaded).toEqual(['mock.log', 'journal.json']);

    const port = String(await freePort());
    const home = makeHome();
    layOut(home.folder, port);
    const lines = steps.flatMap(({ run }) =>
      run === undefined
        ? []
        : [
            run
              .replaceAll('8099', port)
              .replace(/^npm ci$/, 'true')
              .replace(/^npm test$/, TESTS),
          ],
    );
    expect(lines).toHaveLength(4);
    const script = `set -e\ntrap 'kill $(jobs -p)' EXIT\n${lines.join('\n')}\nls -s ${uploaded.join(' ')}`;
    const here = Object.entries(env).map(([name, value]) => [name, value.replace('8099', port)]);
    await inBash(home.folder, script, { ...home.env, ...Object.fromEntries(here) });
  });
});
