import type { Answer, Incoming } from '../http-message.ts';
import type { JournalEntry } from '../journal.ts';
import type { Mock } from '../mock.ts';
import { htmlPage } from '../problem.ts';

/** Answers the harvesting addresses: `/oai`, `/<x.y>/oai` and `/id/<ident>`. */
export async function answerHarvest(_mock: Mock, _incoming: Incoming, _entry: JournalEntry): Promise<Answer> {
  return htmlPage(404, 'Not Found');
}
