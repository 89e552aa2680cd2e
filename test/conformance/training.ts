import type { Line } from './line.ts';
import type { SceneOptions } from './scene.ts';

/** Tells if a host is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(hostname);
}

/** Tells if the connection is encrypted. */
export function isPrivate(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'https:' || isLoopback(hostname);
}

/**
 * Tells if a mock server of this machine answers, whose data is private. A tunnel to another
 * machine has no control interface.
 */
export async function isDouble(line: Line, baseUrl: string): Promise<boolean> {
  if (!isLoopback(new URL(baseUrl).hostname)) return false;
  const answer = await line
    .once({ url: `${new URL(baseUrl).origin}/__mock__/health` })
    .catch(() => undefined);
  return (
    answer?.status === 200 && answer.type === 'application/json' && answer.text.includes('"ok"')
  );
}

/**
 * Explains why a run must not write. The other side has real records, which cannot be removed: the
 * caller confirms twice where it goes, and what can be seen of a training instance must be seen.
 * undefined: it may, until a record of its own turns up in the harvest.
 * @param named the host, with its port if it has one, that may be written to
 */
export async function whyNotWrite(
  line: Line,
  options: SceneOptions,
  named: string,
): Promise<string | undefined> {
  const base = new URL(options.baseUrl);
  if (named !== base.host)
    return `--write names ${named}, and --base-url is at ${base.host}: both must name the training instance`;
  if (options.account === undefined)
    return 'writing needs an account: PAS_USERNAME and PAS_PASSWORD';
  if (options.project === undefined)
    return 'writing needs --project, a survey project of the training instance';
  if (options.oaiBase === undefined)
    return 'writing needs --oai-base: vocabularies come from the harvesting interface, and it shows whether a record is real';
  if (options.isDouble) return undefined;
  if (new URL(options.oaiBase).host === base.host)
    return `${base.host} harvests, too: a training instance does not`;
  for (const path of ['/oai', '/2.2/oai']) {
    const answer = await line.ask({ url: `${base.origin}${path}?verb=Identify` });
    if (
      answer.text.includes('<OAI-PMH') ||
      (answer.status >= 300 &&
        answer.status < 400 &&
        (answer.headers.get('location') ?? '').includes('/oai'))
    )
      return `${base.origin}${path} answers as a harvesting interface: a training instance has none`;
  }
  return undefined;
}
