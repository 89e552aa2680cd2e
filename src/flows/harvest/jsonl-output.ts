import type { Subject } from '../../ledger/subject.ts';
import { writeHeader, writeRecord } from '../../oai/record-json.ts';
import type { RepeatedElements } from '../../oai/repeated-elements.ts';
import { JsonBytes } from '../../text/json-bytes.ts';
import type { AppendTarget } from './append-output.ts';
import type { RecordOutput } from './record-output.ts';

/** One JSON object a line. A record that changed has a line for each time it was met: the last one counts. */
export function jsonlOutput(growing: AppendTarget, repeated: RepeatedElements, verb: Subject['verb']): RecordOutput {
  const json = new JsonBytes();
  const append = async (): Promise<void> => {
    for (const bytes of json.take()) await growing.append(bytes);
  };
  return {
    write: async ({ records }) => {
      for (const record of records) {
        if (verb === 'ListRecords') writeRecord(json, record, repeated);
        else writeHeader(json, record);
        json.endLine();
        if (json.isLarge) await append();
      }
      await append();
    },
    commit: () => growing.commit(),
    settle: () => growing.close(''),
    close: () => growing.close(''),
  };
}
