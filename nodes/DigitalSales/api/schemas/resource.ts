import { z } from 'zod/v3';
import type { IDataObject } from 'n8n-workflow';
import { isJsonObject } from '../../shared/json';
import { saysFailure } from './error';

/** JSON loses the last digits of a larger number, so another resource may have it. */
export const hashSchema = z.union([z.string().trim().min(1), z.number().int().safe()]);

const withHash = z.object({ hash: hashSchema }).passthrough();

/**
 * Reads one resource that has a hash, bare as documented or wrapped as `{success, data}`, in case a
 * deployment sends that. The object stays as it came; anything without a hash is not the resource, nor is what is
 * wrapped with `success: false`.
 */
export function readResource(body: unknown): IDataObject | undefined {
	if (!isJsonObject(body)) return undefined;
	if (withHash.safeParse(body).success) return body;
	if (saysFailure(body)) return undefined;
	const { data } = body;
	const inner: unknown = Array.isArray(data) ? data[0] : data;
	return isJsonObject(inner) && withHash.safeParse(inner).success ? inner : undefined;
}
