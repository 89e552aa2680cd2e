import type { Subject } from '../../ledger/subject.ts';
import { headerJson, recordJson } from '../../oai/record-json.ts';
import type { RepeatedElements } from '../../oai/repeated-elements.ts';
import type { Growing } from './growing-output.ts';
import type { RecordOutput } from './record-output.ts';

/** One JSON object a line. A record that changed has a line for each time it was met: the last one counts. */
export function jsonlOutput(growing: Growing, repeated: RepeatedElements, verb: Subject['verb']): RecordOutput {
  const json = verb === 'ListRecords' ? recordJson : headerJson;
  return {
    write: ({ records }) => growing.append(records.map((record) => `${JSON.stringify(json(record, repeated))}\n`).join('')),
    commit: () => growing.commit(),
    settle: () => growing.close(''),
    close: () => growing.close(''),
  };
}
