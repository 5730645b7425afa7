import { accessByHttp, accessByPostgres } from './access';
import { mcpTools, salesAssistant } from './assistant';
import { catalogToSheet, offersFromSheet } from './catalog';
import { chargeByEmail } from './charge-by-email';
import {
	chargeByEvolutionApi,
	chargeByWhatsApp,
	chargeByWhatsAppTemplate,
} from './charge-by-whatsapp';
import { chargeListFromSheet } from './charge-list';
import { errorsToTelegram } from './errors-to-telegram';
import {
	everyStatusToSheet,
	paidSaleToAnyCrm,
	paidSaleToSheetAndHubSpot,
	paidSaleToTelegram,
} from './paid-sale';
import {
	reconciliationCharge,
	reconciliationNotices,
	reconciliationSchedule,
} from './reconciliation';
import { recoverUnpaidPix } from './recover-unpaid-pix';
import { LANGUAGES, render, type Recipe } from './workflow';

/** The recipes, by the name of their file. */
export const RECIPES: Record<string, Recipe> = {
	'access-by-http': accessByHttp,
	'access-by-postgres': accessByPostgres,
	'ai-sales-assistant': salesAssistant,
	'catalog-to-google-sheets': catalogToSheet,
	'charge-by-email': chargeByEmail,
	'charge-by-evolution-api': chargeByEvolutionApi,
	'charge-by-whatsapp': chargeByWhatsApp,
	'charge-by-whatsapp-template': chargeByWhatsAppTemplate,
	'charge-list-from-google-sheets': chargeListFromSheet,
	'errors-to-telegram': errorsToTelegram,
	'every-status-to-google-sheets': everyStatusToSheet,
	'mcp-tools': mcpTools,
	'offers-from-google-sheets': offersFromSheet,
	'paid-sale-to-any-crm': paidSaleToAnyCrm,
	'paid-sale-to-google-sheets-and-hubspot': paidSaleToSheetAndHubSpot,
	'paid-sale-to-telegram': paidSaleToTelegram,
	'reconciliation-1-charge': reconciliationCharge,
	'reconciliation-2-notices': reconciliationNotices,
	'reconciliation-3-schedule': reconciliationSchedule,
	'recover-unpaid-pix': recoverUnpaidPix,
};

export function recipeOf(name: string): Recipe {
	const recipe = RECIPES[name];
	if (!recipe) throw new Error(`There is no recipe ${name}`);
	return recipe;
}

/** Every file of the examples that is made from a recipe, with its text. */
export function files(): Record<string, string> {
	return Object.fromEntries(
		LANGUAGES.flatMap((language) =>
			Object.entries(RECIPES).map(([name, recipe]) => [
				`${language}/${name}.json`,
				`${JSON.stringify(render(recipe, name, language), null, '\t')}\n`,
			]),
		),
	);
}
