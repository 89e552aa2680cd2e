import { describe, expect, test } from 'vitest';
import { formatRegistryPath, parseRegistryPath } from '../../../src/flows/system/search-path.ts';

describe('the path of the registry of Windows', () => {
  const exported = (line: string): string =>
    `Windows Registry Editor Version 5.00\r\n\r\n[HKEY_CURRENT_USER\\Environment]\r\n"TEMP"="x"\r\n${line}\r\n`;

  test.each([
    ['"Path"="C:\\\\Nářadí;C:\\\\b"', 'C:\\Nářadí;C:\\b'],
    ['"PATH"="C:\\\\a \\"q\\""', 'C:\\a "q"'],
    ['"Path"=hex(2):43,00,3a,00,\\\r\n  5c,00,59,01,00,00', 'C:\\ř'],
    ['"Other"="1"', ''],
  ])('is read from %s', (line, path) => {
    expect(parseRegistryPath(exported(line))).toBe(path);
  });

  test('is read back as it was written, case and variables included', () => {
    const path = '%USERPROFILE%\\bin;C:\\Výkop u brodu\\pas;D:\\"x"';
    const bytes = formatRegistryPath(path);
    expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xfe]);
    expect(parseRegistryPath(bytes.toString('utf16le'))).toBe(path);
  });

  test('is not changed if it is of another type', () => {
    expect(() => parseRegistryPath(exported('"Path"=dword:00000001'))).toThrow('unknown type');
  });
});
