import type { Exchange, HttpRequest, HttpResponse } from '../../src/service/http/exchange.ts';

export const OAI_BASE = 'https://harvest.example.org';

/** An answer of the protocol, typed by hand where it matters. */
export function oaiXml(inner: string, more: { readonly responseDate?: string } = {}): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">
<responseDate>${more.responseDate ?? '2025-06-18T08:00:00Z'}</responseDate>
<request>${OAI_BASE}/2.2/oai</request>
${inner}
</OAI-PMH>`;
}

export function oaiError(code: string, text = ''): string {
  return oaiXml(`<error code="${code}">${text}</error>`);
}

export function recordXml(
  ident: string,
  metadata = '<x xmlns="urn:x"/>',
  datestamp = '2025-01-01T06:00:00Z',
): string {
  return `<record><header><identifier>${OAI_BASE}/id/${ident}</identifier><datestamp>${datestamp}</datestamp><setSpec>heslo:obdobi</setSpec></header><metadata>${metadata}</metadata></record>`;
}

/** @param token undefined: no such element; empty: the standard's last page */
export function listXml(
  verb: string,
  records: readonly string[],
  token?: string,
  attributes = '',
): string {
  const element =
    token === undefined ? '' : `<resumptionToken ${attributes}>${token}</resumptionToken>`;
  return oaiXml(`<${verb}>${records.join('')}${element}</${verb}>`);
}

export function answer(body: string | Buffer, more: Partial<HttpResponse> = {}): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/xml;charset=UTF-8' },
    body: Buffer.from(body as string),
    ...more,
  };
}

export type Script = Exchange & { readonly requests: HttpRequest[] };

/**
 * Answers request after request from the list; a function is asked each time, an error is thrown.
 */
export function scripted(
  ...steps: readonly (
    | HttpResponse
    | string
    | Error
    | ((request: HttpRequest) => HttpResponse | string)
  )[]
): Script {
  const requests: HttpRequest[] = [];
  const exchange: Exchange = async (request) => {
    const step = steps[Math.min(requests.length, steps.length - 1)];
    requests.push(request);
    if (step === undefined) throw new Error('nothing is scripted');
    if (step instanceof Error) throw step;
    const scriptedAnswer = typeof step === 'function' ? step(request) : step;
    return typeof scriptedAnswer === 'string' ? answer(scriptedAnswer) : scriptedAnswer;
  };
  return Object.assign(exchange, { requests });
}

/** The arguments of a request, in the order in which they were sent. */
export function listArguments(request: HttpRequest | undefined): string[] {
  return [...new URL(request?.url ?? '').searchParams].map(([name, value]) => `${name}=${value}`);
}
