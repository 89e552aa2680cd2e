import { localizedMessageOf, UnavailableError } from '../../base/errors.ts';
import { type HttpRequest, type HttpResponse, TransportError } from '../../http/exchange.ts';
import type { Slot } from '../../http/pacer.ts';
import { accessProbe } from '../../pas-api/requests.ts';
import { authorised } from '../../pas-api/session.ts';
import { isAbort, type PushContext } from './push-context.ts';

export type Asker = Pick<PushContext, 'baseUrl' | 'pace' | 'send' | 'stop'>;

/** Sends, within the pace, what changes nothing and passes the gates of a write. What comes instead of an answer is returned. */
export async function askAccess(
  { baseUrl, pace, send, stop }: Asker,
  token: string,
  question: HttpRequest = accessProbe(baseUrl),
): Promise<HttpResponse | TransportError> {
  let slot: Slot | undefined;
  try {
    slot = await pace.depart(stop);
    return await authorised(token, send)({ ...question, signal: stop, onDeparture: slot.leave });
  } catch (thrown) {
    if (thrown instanceof TransportError) return thrown;
    if (thrown instanceof UnavailableError || isAbort(thrown))
      return new TransportError('aborted', false, localizedMessageOf(thrown));
    throw thrown;
  } finally {
    slot?.giveBack();
  }
}
