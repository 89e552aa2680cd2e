import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentOf } from '../support/contract-find.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { JUDGED_FINDS } from '../support/judged-finds.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { expectDone, type Home, signedIn } from '../support/run-pas.ts';

hostRuns();

type Judged = { file: string; severity: string; message: string };

let service: MockProcess;
let home: Home;
let issues: readonly Judged[];

beforeAll(async () => {
  service = await startMockProcess();
  home = await signedIn(service);
  await expectDone(home.pas('harvest-vocab'));
  const files = JUDGED_FINDS.map(({ content }, index) => home.file(fileOf(index), documentOf({ server: service }, content)));
  issues = (await home.json<{ issues: readonly Judged[] }>('validate', ...files)).issues;
});
afterAll(() => service.stop());

const fileOf = (index: number) => `judged-${index}.xml`;

describe('a document that somebody typed is judged without a network as the service judges it', () => {
  test.each(JUDGED_FINDS.map(({ title, status }, index) => [title, status, index] as const))(
    '%s, where the service answers %i',
    (_, status, index) => {
      const errors = issues.filter(({ file, severity }) => severity === 'error' && file.endsWith(`/${fileOf(index)}`));
      expect(errors.length > 0, errors.map(({ message }) => message).join('\n')).toBe(status !== 201);
    },
  );
});
