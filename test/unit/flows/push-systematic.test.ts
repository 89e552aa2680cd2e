import { expect, test } from 'vitest';
import { listAllEntries } from '../../../src/outbox/entry-queries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';
import { answer, count, created, isCreate, obeyed, page, type Reply, scene } from './push-scene.ts';

const FINDS = 60;
/** Beside {@link LATENCY_MS}: just under half a second in all. */
const SLOWER_MS = 90;

const detail = { detail: 'the schema version is not allowed' };
const schemaAway = {
  validation_errors: [
    {
      line: null,
      column: null,
      message: 'samostatny_nalez: the schema cannot be fetched',
      error_type: 2,
    },
  ],
};
const wrongRoot = {
  schema_errors: [{ line: 1, column: 0, message: 'No matching global declaration', error_type: 2 }],
};

const REFUSALS: readonly (readonly [string, () => Reply])[] = [
  ['a sentence', () => answer(422, {}, detail)],
  ['a finding that names no line', () => answer(422, {}, schemaAway)],
  ['a finding about the root', () => answer(422, {}, wrongRoot)],
  ['a status alone', () => answer(400, {}, detail)],
  ['a page of something on the way', () => page(415)],
];

const PROJECTS: readonly (readonly [string, (at: number) => number])[] = [
  ['one project', () => 0],
  ['four projects in turn', (at) => at % 4],
  ['two finds of each project', (at) => Math.floor(at / 2)],
  ['a project for each find', (at) => at],
];

test.each(
  REFUSALS.flatMap(([form, reply]) =>
    PROJECTS.map(([spread, getProject]) => [form, spread, reply, getProject] as const),
  ),
)(
  'a refusal of everything by %s ends a push of %s after a dozen imports, and none stays refused',
  async (_form, _spread, reply, getProject) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let at = 0; at < FINDS; at += 1) queueImport(outbox, `F-${at}`, `C-${getProject(at)}`);
    const { run, asked } = scene(clock, async (request) => {
      await clock.sleep(SLOWER_MS);
      return isCreate(request) ? reply() : obeyed(request);
    });
    const result = await run(outbox, { forMs: 50_000 });
    expect(asked.filter(isCreate).length).toBeLessThanOrEqual(12);
    expect(result).toMatchObject({
      accepted: 0,
      refused: 0,
      leftOut: [{ kind: 'import', project: null }],
    });
    expect(count(outbox, 'queued')).toBe(FINDS);
  },
);

test.each(
  [403, 404].flatMap((status) => [
    [status, 'one project', () => 0] as const,
    [status, 'two projects in turn', (at: number) => at % 2] as const,
    [status, 'four projects in turn', (at: number) => at % 4] as const,
    [status, 'two finds of each project', (at: number) => Math.floor(at / 2)] as const,
    [status, 'a project for each find', (at: number) => at] as const,
  ]),
)(
  'a refusal of all projects by %i ends a push of %s after a dozen imports',
  async (status, _spread, getProject) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let at = 0; at < FINDS; at += 1) queueImport(outbox, `F-${at}`, `C-${getProject(at)}`);
    const { run, asked } = scene(clock, async (request) => {
      await clock.sleep(SLOWER_MS);
      return isCreate(request) ? answer(status) : obeyed(request);
    });
    expect(await run(outbox, { forMs: 50_000, maxInFlight: 16 })).toMatchObject({
      accepted: 0,
      refused: 0,
    });
    expect(asked.filter(isCreate).length).toBeLessThanOrEqual(12);
    expect(count(outbox, 'queued')).toBe(FINDS);
  },
);

test('imports that lost their number to a parallel one open no circuit: each is sent again, and accepted', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (let at = 0; at < 10; at += 1) queueImport(outbox, `F-${at}`, 'C-1');
  const { run, asked, events } = scene(clock, async (request, index) => {
    if (!isCreate(request) || index === 0) return obeyed(request);
    // Nine at once: the service gives them all one number, and saves the first.
    if (index > 9) return created(request);
    await clock.sleep(2000 - 100 * index);
    return index === 1
      ? created(request)
      : answer(422, {}, { detail: 'a record with this identifier exists' });
  });
  expect(await run(outbox)).toMatchObject({ accepted: 10, refused: 0, leftOut: [] });
  expect(events.filter(({ type }) => type === 'left_out')).toEqual([]);
  expect(asked.length).toBeLessThan(25);
});

test.each([404, 415])(
  'fewer than five finds do not stay refused after a page with status %i',
  async (status) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let at = 0; at < 3; at += 1) queueImport(outbox, `F-${at}`, 'C-1');
    let isThere = false;
    const { run } = scene(clock, (request) =>
      isThere || !isCreate(request) ? obeyed(request) : page(status),
    );
    expect(await run(outbox)).toMatchObject({ accepted: 0, refused: 0 });
    expect(count(outbox, 'queued')).toBe(3);
    for (const { reason } of listAllEntries(outbox))
      expect(String(reason)).toMatch(/refused by a proxy between pas and the service/);
    isThere = true;
    expect(await run(outbox)).toMatchObject({ accepted: 3, refused: 0 });
  },
);
