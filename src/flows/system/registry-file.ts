import { ConfigError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';

export const USER_ENVIRONMENT = 'HKEY_CURRENT_USER\\Environment';
const FORMAT = 'Windows Registry Editor Version 5.00';

/** Returns the user's path in a file of `reg export`; empty where there is none. */
export function pathOfRegistry(text: string): string {
  const whole = text.replace(/\\\r?\n\s*/g, '');
  const value = /^"path"=(.*?)\r?$/im.exec(whole)?.[1];
  if (value === undefined) return '';
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1');
  const bytes = /^hex\([12]\):([\da-f,]*)$/i.exec(value)?.[1];
  if (bytes === undefined) throw new ConfigError(t`The user's path in the registry of Windows is of an unknown kind.`);
  return Buffer.from(bytes.replaceAll(',', ''), 'hex').toString('utf16le').replace(/\0+$/, '');
}

/** Writes a path whose variables, such as `%USERPROFILE%`, are expanded (REG_EXPAND_SZ). */
export function registryWithPath(path: string): Buffer {
  const bytes = Buffer.from(`${path}\0`, 'utf16le').toString('hex').match(/../g)?.join(',');
  const lines = [`\uFEFF${FORMAT}`, '', `[${USER_ENVIRONMENT}]`, `"Path"=hex(2):${bytes}`, ''];
  return Buffer.from(lines.join('\r\n'), 'utf16le');
}
