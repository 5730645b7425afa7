import { groupOf, hasFailed, isLater, type Status } from '../domain';
import { isNamedStatus, isSameStatus, isWantedStatus, namedStatuses, type Wanted } from './filters';
import { ANY } from './form';

const COMMON_LAG_MS = 3_000;
export const LONGEST_LAG_MS = 120_000;
/** A sender gets 200 in the end, however often the status changes. */
const LONGEST_WAIT_MS = 600_000;

interface Comparison {
	read: Status;
	claimed: Status;
	/** Between the webhook (its first copy, if it was repeated) and the start of the read. */
	claimedForMs: number;
	/** Since the first of the reads in a row that showed this status. */
	shownForMs: number;
	/** Whether the status that was read has started the workflow. */
	isHandedOver: boolean;
}

/** Whether the read may be older than the webhook. A read of an earlier status than a known, wanted claim always may be. */
export function mayBeOutdated(wanted: Wanted, comparison: Comparison): boolean {
	const { read, claimed, claimedForMs, shownForMs, isHandedOver } = comparison;
	if (claimed != null && isSameStatus(read, claimed)) return false;
	const isReadWanted = isWantedStatus(wanted, read);
	const isNew = isReadWanted && !isHandedOver;
	// If a later webhook has brought this status instead of its own, its own is left to this webhook.
	const longestMs = !isNew && shownForMs < LONGEST_LAG_MS ? LONGEST_WAIT_MS : LONGEST_LAG_MS;
	const mayLag = claimedForMs < longestMs;
	const isSoon = claimedForMs < COMMON_LAG_MS;
	// A wanted status may be the old one soon after the webhook, because it may have started the workflow before a restart
	// or on another worker; later, only if it started the workflow here.
	const mayBeOldStatus = isSoon || !isReadWanted || (isHandedOver && mayLag);
	// Reads may not show yet that a new payment follows a refused one.
	const isPast = (status: Status) => isLater(read, status) && !(isSoon && hasFailed(read));
	if (!isKnown(wanted, claimed)) {
		const isEnded = (named: string) => isSameStatus(read, named) || isPast(named);
		const mayFollow = wanted.triggerOn.includes(ANY) || !namedStatuses(wanted).every(isEnded);
		return mayLag && mayBeOldStatus && mayFollow;
	}
	// A read status without a group counts as waiting. After the longest lag, a wanted one may be another word for the claim.
	const isReadEarlier = groupOf(read)
		? isLater(claimed, read)
		: isLater(claimed, 'waiting_payment') && (mayLag || !isReadWanted);
	if (!isWantedStatus(wanted, claimed)) return isReadEarlier && isNew && mayLag;
	return isReadEarlier || (mayBeOldStatus && !isPast(claimed));
}

/** Whether the claim is a known status that may follow the one that was read. */
export function isAhead(wanted: Wanted, claimed: Status, read: Status): boolean {
	return isKnown(wanted, claimed) && !isSameStatus(claimed, read) && !isLater(read, claimed);
}

function isKnown(wanted: Wanted, status: Status): boolean {
	return groupOf(status) !== undefined || isNamedStatus(wanted, status);
}
