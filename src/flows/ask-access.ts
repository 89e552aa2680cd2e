import { type HttpResponse, NoAnswerError } from '../http/exchange.ts';
import { accessProbe } from '../pas-api/requests.ts';
import { authorised } from '../pas-api/session.ts';
import type { PushContext } from './push-run.ts';

/** Sends, within the pace, what changes nothing and passes the gates of a write. What comes instead of an answer is returned. */
export async function askAccess(
  { baseUrl, pace, send, stop }: Pick<PushContext, 'baseUrl' | 'pace' | 'send' | 'stop'>,
  token: string,
): Promise<HttpResponse | NoAnswerError> {
  const slot = await pace.depart(stop);
  try {
    return await authorised(token, send)({ ...accessProbe(baseUrl), onDeparture: slot.leave });
  } catch (thrown) {
    if (thrown instanceof NoAnswerError) return thrown;
    throw thrown;
  } finally {
    slot.giveBack();
  }
}
