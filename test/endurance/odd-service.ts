import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../support/raw-server.ts';
import { type Service, serviceAt } from '../support/run-pas.ts';
import { listXml, oaiXml, recordXml } from '../support/scripted-oai.ts';

/** Answers a request for a page of records; `page` counts from 0 since the last `sane` or `odd`. */
export type OddAnswer = (response: ServerResponse, page: number, request: IncomingMessage) => void;

/** A harvesting interface that sends what no decent one does, where the mock server will not. */
export type OddService = AsyncDisposable &
  Service & {
    /** From now on pages of records are answered so. */
    odd(answer: OddAnswer): void;
    /** From now on these records are served, two a page. */
    sane(idents: readonly string[]): void;
    readonly pagesAsked: number;
  };

export const ODD_SET = 'projekt';

export async function startOddService(): Promise<OddService> {
  let pagesAsked = 0;
  let answerPage: OddAnswer = (response) => response.end();
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    const verb = query.get('verb');
    if (verb === 'Identify')
      send(
        response,
        oaiXml('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>'),
      );
    else if (verb === 'ListSets')
      send(
        response,
        oaiXml(
          `<ListSets>${[ODD_SET, 'heslo'].map((set) => `<set><setSpec>${set}</setSpec></set>`).join('')}</ListSets>`,
        ),
      );
    else answerPage(response, pagesAsked++, request);
  });
  const { url, [Symbol.asyncDispose]: close } = await listen(server);
  return {
    ...serviceAt(url),
    odd: (answer) => {
      pagesAsked = 0;
      answerPage = answer;
    },
    sane: (idents) => {
      pagesAsked = 0;
      answerPage = (response, _, request) => {
        const token = new URL(request.url ?? '', url).searchParams.get('resumptionToken');
        const start = token === null ? 0 : Number(token.replace(/\D/g, ''));
        send(
          response,
          page(idents.slice(start, start + 2), {
            size: idents.length,
            next: start + 2 < idents.length ? `at-${start + 2}` : '',
          }),
        );
      };
    },
    get pagesAsked() {
      return pagesAsked;
    },
    [Symbol.asyncDispose]: close,
  };
}

export function send(
  response: ServerResponse,
  body: string | Buffer,
  type = 'text/xml;charset=UTF-8',
): void {
  response.writeHead(200, { 'content-type': type }).end(body);
}

/** A page of ListRecords as it should be. */
export function page(
  idents: readonly string[],
  more: { readonly size: number; readonly next: string; readonly metadata?: string },
): string {
  const records = idents.map((ident) =>
    recordXml(
      ident,
      more.metadata ??
        `<svc xmlns="urn:svc/2.2/"><projekt><ident_cely>${ident}</ident_cely></projekt></svc>`,
    ).replace('heslo:obdobi', ODD_SET),
  );
  return listXml('ListRecords', records, more.next, `completeListSize="${more.size}"`);
}
