import { describe, expect, test } from 'vitest';
import { conform, listEverything, listReading } from '../contract/conform.ts';
import { startOuterFace } from '../contract/reverse-proxy.ts';
import { serveMock } from '../support/mock-process.ts';

describe('The conformance suite', () => {
  test('reports the known differences of the deployed service, and nothing else', async () => {
    await using mock = await serveMock('--deployed');
    const run = await conform(listEverything(mock));
    expect(run.broken).toEqual([
      'A-FIELD-24',
      'A-FIELD-25',
      'A-WIRE-1',
      'B-SEE-12',
      'B-SEE-4',
      'B-SET-4',
    ]);
    expect(run.code).toBe(15);
  });

  test('sees the throttle at its permitted pace', async () => {
    await using mock = await serveMock('--min-interval', '100');
    const run = await conform([
      ...listEverything(mock),
      '--interval-ms',
      '110',
      '--only',
      'throttle',
    ]);
    expect(run.results.map(({ id, result }) => `${id}: ${result}`)).toEqual([
      'throttle: pass',
      'throttle-is-shared: pass',
      'throttle-retry-after: pass',
      'paced-is-not-throttled: pass',
    ]);
  });
  test('passes on a training instance that does not identify itself as a mock server, even with identifiers of another instance', async () => {
    await using training = await serveMock('--training');
    await using production = await serveMock();
    await using face = await startOuterFace(training);
    const { finds } = await production.state();
    const flags = [
      '--base-url',
      face.base_url,
      '--oai-base',
      production.oai_base,
      '--schema-base',
      training.schema_base,
      '--project',
      'C-202400101',
      '--interval-ms',
      '0',
      '--pause-ms',
      '20',
    ];
    const run = await conform([...flags, '--write', new URL(face.base_url).host]);
    expect(run.last).toMatchObject({ type: 'summary' });
    expect(run.results.filter(({ result }) => result === 'break' || result === 'outage')).toEqual(
      [],
    );
    expect(run.results.find(({ id }) => id === 'written-is-harvested')?.result).toBe('skipped');
    expect((await production.state()).finds).toBe(finds);
    expect((await training.state()).finds).toBeGreaterThan(finds);
  });
});

describe('An outage', () => {
  test.each([
    ['the interface is closed', { access_mode: 'closed' }],
    ['pages of an outage', { outage: true }],
  ])('is not reported as a breach of the contract: %s', async (_, settings) => {
    await using mock = await serveMock();
    await mock.settings(settings);
    const run = await conform([...listReading(mock), '--pause-ms', '1']);
    expect({ broken: run.broken, code: run.code }).toEqual({ broken: [], code: 5 });
    expect(run.results.some(({ result }) => result === 'outage')).toBe(true);
  });

  test.each(['reset-before-save', 'truncate', '502', '504', 'throttle'])(
    'in every answer of a write: %s',
    async (fault) => {
      await using mock = await serveMock();
      await mock.faults(...['import', 'number', 'photo'].map((endpoint) => ({ endpoint, fault })));
      const run = await conform([
        ...listEverything(mock),
        '--pause-ms',
        '1',
        '--only',
        'States and transitions: import into',
      ]);
      expect(run.broken).toEqual([]);
      expect(run.code).toBe(5);
    },
  );

  test('does not excuse a 500 to a single request', async () => {
    await using mock = await serveMock();
    await mock.faults({ endpoint: 'import', fault: '500-before-save' });
    const run = await conform([
      ...listEverything(mock),
      '--pause-ms',
      '1',
      '--only',
      'import-state-1',
    ]);
    expect(run.broken).toEqual(['A-STATE-2']);
  });
});
