import { z } from 'zod/v3';
import type { IDataObject } from 'n8n-workflow';
import { isJsonObject } from '../../shared/json';

const withHash = z.object({ hash: z.union([z.string().trim().min(1), z.number()]) }).passthrough();

/**
 * Reads one resource that has a hash, bare as documented or wrapped as `{success, data}`, in case a
 * deployment sends that. The object stays as it came; anything without a hash is not the resource.
 */
export function readResource(body: unknown): IDataObject | undefined {
	if (!isJsonObject(body)) return undefined;
	if (withHash.safeParse(body).success) return body;
	const { data } = body;
	const inner: unknown = Array.isArray(data) ? data[0] : data;
	return isJsonObject(inner) && withHash.safeParse(inner).success ? inner : undefined;
}
