import type { OpenService, ProfileUser } from '../../../src/push/account.ts';
import type { HttpRequest, HttpResponse } from '../../../src/service/http/exchange.ts';
import type { Account } from '../../../src/service/session.ts';
import { ADDRESS, EVA, USERNAME } from '../../support/temp-outbox.ts';

/** Account by the service. */
export const JAN_SAID: Account = {
  ...EVA,
  identCely: 'U-000002',
  name: 'Jan Malý',
  email: 'jan@example.org',
};

/** A profile that names no user. */
export const ANYONE: ProfileUser = {
  name: 'dig',
  username: undefined,
};

const GROUPS: Readonly<Record<string, string>> = {
  researcher: 'Badatel',
  archaeologist: 'Archeolog',
  archivist: 'Archivář',
};

export function userInfo({ identCely, name, email, organisation, role }: Account): HttpResponse {
  const [first, last] = name.split(' ');
  const body = `<svc:svc xmlns:svc="urn:x"><svc:uzivatel><svc:ident_cely>${identCely}</svc:ident_cely><svc:jmeno>${first}</svc:jmeno>
    <svc:prijmeni>${last}</svc:prijmeni><svc:email>${email}</svc:email><svc:organizace>${organisation}</svc:organizace>
    <svc:skupina>${GROUPS[role]}</svc:skupina></svc:uzivatel></svc:svc>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) };
}

export type AskedService = OpenService & { readonly asked: HttpRequest[] };

/** A service that returns this account for any token, and answers writes as it is told. */
export function serviceSaying(
  answer: Account | HttpResponse | Error,
  {
    usesExternalToken = false,
    onWrite,
  }: { usesExternalToken?: boolean; onWrite?: (request: HttpRequest) => HttpResponse } = {},
): AskedService {
  const asked: HttpRequest[] = [];
  return {
    asked,
    baseUrl: ADDRESS,
    username: USERNAME,
    usesExternalToken,
    profile: ANYONE,
    session: { token: async () => 'token', renew: async () => 'fresh' },
    send: async (request) => {
      asked.push(request);
      request.onDeparture?.();
      if (!request.url.endsWith('/api/uzivatel-info/'))
        return onWrite?.(request) ?? { status: 500, headers: {}, body: Buffer.alloc(0) };
      if (answer instanceof Error) throw answer;
      return 'status' in answer ? answer : userInfo(answer);
    },
  };
}
