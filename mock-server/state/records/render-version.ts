import { NEWEST_VERSION, type SchemaVersion } from '../../base/addresses.ts';
import { type Children, readTypes } from './child-order.ts';
import { type Body, type BodyValue, type Entity, isList } from './record.ts';

/**
 * Reduces a body to the elements of an older schema version; returns the newest version unchanged.
 */
export function reduceToVersion(entity: Entity, body: Body, version: SchemaVersion): Body {
  return version === NEWEST_VERSION ? body : pickKnown(body, `${entity}Type`, readTypes(version));
}

/**
 * Shares unchanged parts with the original. A type without children of its own is copied unchanged.
 */
function pickKnown(body: Body, type: string, types: ReadonlyMap<string, Children>): Body {
  const children = types.get(type);
  if (children === undefined) return body;
  let copy: Record<string, BodyValue> | undefined;
  for (const [name, value] of Object.entries(body)) {
    const childType = children.get(name);
    if (childType === undefined && !/^[@#]/.test(name)) {
      copy ??= { ...body };
      delete copy[name];
      continue;
    }
    const child = childType === undefined ? value : pickKnownIn(value, childType, types);
    if (child === value) continue;
    copy ??= { ...body };
    copy[name] = child;
  }
  return copy ?? body;
}

function pickKnownIn(
  value: BodyValue,
  type: string,
  types: ReadonlyMap<string, Children>,
): BodyValue {
  const pickOne = (item: string | Body): string | Body =>
    typeof item === 'string' ? item : pickKnown(item, type, types);
  if (!isList(value)) return pickOne(value);
  const items = value.map(pickOne);
  return items.every((item, index) => item === value[index]) ? value : items;
}
