import type { Subject } from '../../ledger/subject.ts';
import type { AppendTarget } from './append-output.ts';
import { listsOf } from './list-element.ts';
import type { RecordOutput } from './record-output.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<harvest>\n';
const TAIL = '</harvest>\n';

/**
 * One document with the records as they came, each page's in a list that declares what they need. A record that
 * changed stands there once for each time it was met: the last one counts.
 */
export function xmlStreamOutput(growing: AppendTarget, verb: Subject['verb']): RecordOutput {
  const close = (): Promise<void> => growing.close(growing.isEmpty() ? HEAD + TAIL : TAIL);
  return {
    write: async ({ document, records }) => {
      if (records.length === 0) return;
      const head = Buffer.from(growing.isEmpty() ? HEAD : '');
      await growing.append(Buffer.concat([head, ...listsOf(document, verb)(records.map(({ element }) => element))]));
    },
    commit: () => growing.commit(),
    settle: close,
    close,
  };
}
