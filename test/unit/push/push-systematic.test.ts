import { expect, test } from 'vitest';
import { listAllEntries } from '../../support/temp-outbox.ts';
import {
  answer,
  count,
  created,
  isCreate,
  obeyed,
  page,
  queuedScene,
  type Reply,
} from './push-scene.ts';

const FINDS = 60;

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

/** With a sentence the first of a project may have collided with another one: it is sent again. */
const REFUSALS: readonly (readonly [string, () => Reply, number])[] = [
  ['a sentence', () => answer(422, {}, detail), 6],
  ['a finding that names no line', () => answer(422, {}, schemaAway), 5],
  ['a finding about the root', () => answer(422, {}, wrongRoot), 5],
  ['a status alone', () => answer(400, {}, detail), 5],
];

const SPREADS: readonly (readonly [string, number, (at: number) => number])[] = [
  ['one project', 1, () => 0],
  ['four projects in turn', 4, (at) => at % 4],
  ['four projects one after another', 4, (at) => Math.floor(at / 15)],
];

test.each(
  REFUSALS.flatMap(([form, reply, each]) =>
    SPREADS.map(([spread, projects, getProject]) => ({
      form,
      spread,
      reply,
      each,
      projects,
      getProject,
    })),
  ),
)(
  'equal refusals by $form end $spread after five each',
  async ({ reply, each, projects, getProject }) => {
    using push = queuedScene(FINDS, (request) => (isCreate(request) ? reply() : obeyed(request)), {
      getProject: (at) => `C-${getProject(at)}`,
    });
    const { outbox, run, asked } = push;
    const result = await run();
    expect(asked.filter(isCreate)).toHaveLength(each * projects);
    expect(result).toMatchObject({ accepted: 0, refused: 5 * projects, stopCause: undefined });
    expect(result.leftOut.map(({ kind, project }) => [kind, project]).sort()).toEqual(
      Array.from({ length: projects }, (_, at) => ['import', `C-${at}`]),
    );
    expect(count(outbox, 'queued')).toBe(FINDS - 5 * projects);
  },
);

test('refusals with different texts end nothing', async () => {
  using push = queuedScene(20, (_request, index) =>
    answer(422, {}, { detail: `the depth is wrong in ${index}` }),
  );
  expect(await push.run()).toMatchObject({ refused: 20, leftOut: [] });
});

test.each([404, 415])(
  'pages with status %i from the way to the service end the push after five, with nothing refused',
  async (status) => {
    using push = queuedScene(
      FINDS,
      (request) => (isCreate(request) ? page(status) : obeyed(request)),
      { getProject: (at) => `C-${at % 4}` },
    );
    const { outbox, run, asked } = push;
    expect(await run()).toMatchObject({
      accepted: 0,
      refused: 0,
      stopCause: { kind: 'unreachable' },
    });
    expect(asked.filter(isCreate)).toHaveLength(5);
    expect(count(outbox, 'queued')).toBe(FINDS);
  },
);

test('imports that lost their number to a parallel one end nothing: each is sent again, and accepted', async () => {
  using push = queuedScene(10, async (request, index) => {
    if (!isCreate(request) || index === 0) return obeyed(request);
    // Nine at once: the service gives them all one number, and saves the first.
    if (index > 9) return created(request);
    await push.clock.sleep(2000 - 100 * index);
    return index === 1
      ? created(request)
      : answer(422, {}, { detail: 'a record with this identifier exists' });
  });
  const { run, asked, events } = push;
  expect(await run()).toMatchObject({ accepted: 10, refused: 0, leftOut: [] });
  expect(events.filter(({ type }) => type === 'left_out')).toEqual([]);
  expect(asked.length).toBeLessThan(25);
});

test.each([404, 415])(
  'fewer than five finds do not stay refused after a page with status %i',
  async (status) => {
    let isThere = false;
    using push = queuedScene(3, (request) =>
      isThere || !isCreate(request) ? obeyed(request) : page(status),
    );
    const { outbox, run } = push;
    expect(await run()).toMatchObject({ accepted: 0, refused: 0 });
    expect(count(outbox, 'queued')).toBe(3);
    for (const { reason } of listAllEntries(outbox))
      expect(String(reason)).toMatch(
        /refused by a proxy between pas and the service: .*in a browser/,
      );
    isThere = true;
    expect(await run()).toMatchObject({ accepted: 3, refused: 0 });
  },
);
