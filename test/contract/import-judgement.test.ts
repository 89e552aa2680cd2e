import { describe, expect, test } from 'vitest';
import { useMock } from './contract-import.ts';
import { DOUBTFUL_PROJECTS, JUDGED_FINDS } from './judged-finds.ts';

const { send, finds } = await useMock();

describe('Import: documents typed by hand (A-FIELD-2, A-POINT-4, A-VALUE-1 to A-VALUE-6)', () => {
  test.each([...JUDGED_FINDS, ...DOUBTFUL_PROJECTS])(
    '%s answers %i',
    async (_, status, content) => {
      const before = await finds();
      const answer = await send(content);
      expect(answer.status, answer.text).toBe(status);
      expect(await finds()).toBe(status === 201 ? before + 1 : before);
    },
  );
});
