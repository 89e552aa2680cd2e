import { parentPort } from 'node:worker_threads';
import type { JSONValue } from 'json-p3';
import { withXml } from '../schema.ts';
import { messageOf } from '../thrown.ts';
import { type BodyCheck, type Question, type Reply, readJsonPath } from './matcher.ts';

// A thread of its own: expressions from outside may take for ever, and are ended with the thread.
parentPort?.on('message', async (question: Question) => parentPort?.postMessage(await replyTo(question)));

async function replyTo(question: Question): Promise<Reply> {
  const met: number[] = [];
  try {
    for (const [place, text] of question.texts.entries()) {
      const isMet = 'check' in question ? await holds(text, question.check) : isMatch(text, question.matches);
      if (isMet) met.push(place);
    }
    return { met };
  } catch (thrown) {
    return { place: placeOf(question), refused: `cannot be looked for (${messageOf(thrown)})` };
  }
}

function placeOf(question: Question): string {
  if ('matches' in question) return 'path_matches';
  return question.check.xpath === undefined ? 'json' : 'xpath';
}

function isMatch(text: string, source: string): boolean {
  return new RegExp(source, 'u').test(text);
}

async function holds(body: string, { xpath, json, equals, matches }: BodyCheck): Promise<boolean> {
  const found = xpath === undefined ? await firstOfJson(body, json ?? '') : await firstOfXml(body, xpath);
  if (found === undefined) return false;
  return (equals === undefined || found === equals) && (matches === undefined || isMatch(found, matches));
}

async function firstOfJson(body: string, path: string): Promise<string | undefined> {
  const compiled = await readJsonPath(path);
  let value: JSONValue;
  try {
    value = JSON.parse(body) as JSONValue;
  } catch {
    return undefined;
  }
  const [first] = compiled.query(value).values();
  return first === undefined || typeof first === 'string' ? first : JSON.stringify(first);
}

/** Of a form the part that is XML. The prefixes of a path are those that the document's root declares. */
async function firstOfXml(body: string, path: string): Promise<string | undefined> {
  const start = body.search(/<(\?xml|[A-Za-z_])/);
  const end = body.lastIndexOf('>');
  const bytes = Buffer.from(start < 0 ? '' : body.slice(start, end + 1));
  return withXml(bytes, (document) => {
    const found = document.root.eval(path, document.root.namespaces);
    return Array.isArray(found) ? found[0]?.content : String(found);
  });
}
