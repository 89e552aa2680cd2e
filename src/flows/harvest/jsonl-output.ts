import type { Subject } from '../../ledger/subject.ts';
import { writeHeader, writeRecord } from '../../oai/record-json.ts';
import type { RepeatedElements } from '../../oai/repeated-elements.ts';
import { JsonBytes } from '../../text/json-bytes.ts';
import type { Growing } from './growing-output.ts';
import type { RecordOutput } from './record-output.ts';

/** One JSON object a line. A record that changed has a line for each time it was met: the last one counts. */
export function jsonlOutput(growing: Growing, repeated: RepeatedElements, verb: Subject['verb']): RecordOutput {
  const json = new JsonBytes();
  return {
    write: ({ records }) => {
      for (const record of records) {
        if (verb === 'ListRecords') writeRecord(json, record, repeated);
        else writeHeader(json, record);
        json.endLine();
      }
      return growing.append(json.take());
    },
    commit: () => growing.commit(),
    settle: () => growing.close(''),
    close: () => growing.close(''),
  };
}
