import type { Subject } from '../../ledger/subject.ts';
import { sourceOf } from '../../xml/element.ts';
import type { Growing } from './growing-output.ts';
import { listElement } from './list-element.ts';
import type { RecordOutput } from './record-output.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<harvest>\n';
const TAIL = '</harvest>\n';

/**
 * One document with the records as they came, each page's in a list that declares what they need. A record that
 * changed stands there once for each time it was met: the last one counts.
 */
export function xmlStreamOutput(growing: Growing, verb: Subject['verb']): RecordOutput {
  const close = (): Promise<void> => growing.close(growing.isEmpty() ? HEAD + TAIL : TAIL);
  return {
    write: async ({ document, records }) => {
      const head = growing.isEmpty() ? HEAD : '';
      const content = records.map(({ element }) => sourceOf(document, element)).join('\n');
      if (records.length > 0) await growing.append(`${head}${listElement(document, `\n${content}\n`, verb)}\n`);
    },
    commit: () => growing.commit(),
    settle: close,
    close,
  };
}
