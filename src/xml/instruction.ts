import { msg } from '../base/message.ts';
import { Fault } from './fault.ts';
import { splitName } from './name.ts';
import { refuseForbidden } from './references.ts';

const FORM =
  /^<\?xml\s+version\s*=\s*(["'])1\.\d+\1(\s+encoding\s*=\s*(["'])[A-Za-z][\w.-]*\3)?(\s+standalone\s*=\s*(["'])(yes|no)\5)?\s*\?>$/;

/** Returns the position behind the XML declaration; 0 where there is none. */
export function endOfDeclaration(bytes: Buffer): number {
  const source = bytes.toString('latin1', 0, bytes.indexOf('>') + 1);
  const [declaration] = /^<\?xml[ \t\r\n][^<>]*?\?>/.exec(source) ?? [];
  if (declaration === undefined) return 0;
  refuseForbidden(declaration, 0);
  if (!FORM.test(declaration)) throw new Fault(msg`the XML declaration is not well-formed`, 0);
  return declaration.length;
}

/** Returns the position behind the processing instruction at `at`. */
export function endOfInstruction(bytes: Buffer, at: number): number {
  const end = bytes.indexOf('?>', at + 2);
  if (end === -1) throw new Fault(msg`a processing instruction is not closed`, at);
  refuseForbidden(bytes.toString('latin1', at, end), at);
  const target = /^[^\s?]*/.exec(bytes.toString('utf8', at + 2, Math.min(end, at + 360)))?.[0] ?? '';
  if (target.length > 80 || splitName(target) === undefined || target.toLowerCase() === 'xml' || target.includes(':')) {
    throw new Fault(msg`a processing instruction may not be called "${target}"`, at);
  }
  return end + 2;
}
