import { HttpError, type Incoming } from '../base/http-message.ts';
import { createWording } from '../base/messages.ts';
import { makeHtmlPage } from '../base/problem.ts';
import { mayEditNumber } from '../rules/permission.ts';
import { runUnderFault, type SentAnswer } from '../rules/run-under-fault.ts';
import type { Account } from '../state/accounts.ts';
import type { JournalEntry } from '../state/journal.ts';
import type { Mock } from '../state/mock.ts';

/**
 * Answers with a photograph's bytes at the address in its `soubor/url` (A-FILE-6). Originals of
 * finds in state 4 are public, others require permission to edit the find. The original replaces
 * thumbnails, which are not made.
 */
export async function answerPhotographDownload(
  mock: Mock,
  incoming: Incoming,
  entry: JournalEntry,
  ident: string,
  uuid: string,
): Promise<SentAnswer> {
  const photograph = mock.photographs.get(uuid);
  const find = mock.archive.findLive('samostatny_nalez', ident);
  if (photograph === undefined || find === undefined || photograph.find !== ident)
    return makeHtmlPage(404, 'Not Found');
  const account = findBasicAccount(mock, incoming.headers.authorization);
  entry.user = account?.username ?? null;
  const allowed =
    find.stav === 4 ||
    (account !== undefined &&
      (find.creator === account.user || mayEditNumber(mock, account, find)));
  if (!allowed) return makeHtmlPage(403, 'Forbidden');
  const rule = mock.faults.chooseFault('download', ident);
  entry.fault = rule?.fault ?? null;
  try {
    return await runUnderFault(
      rule,
      { clock: mock.clock, say: createWording(incoming, mock.seedNumber) },
      async () => ({
        status: 200,
        headers: { 'content-type': photograph.mimetype },
        body: await mock.photographs.readBytes(uuid),
      }),
    );
  } catch (thrown) {
    if (thrown instanceof HttpError) return thrown.answer;
    throw thrown;
  }
}

function findBasicAccount(mock: Mock, authorization: string | undefined): Account | undefined {
  const encoded = /^basic +(\S+)$/i.exec(authorization ?? '')?.[1];
  const [name, ...password] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(':');
  const account = name === undefined ? undefined : mock.accounts.signIn(name, password.join(':'));
  return account?.active === true ? account : undefined;
}
