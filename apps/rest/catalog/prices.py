"""The price of a hardware class, entered by a person."""

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.catalog.api import prices
from apps.catalog.models import HardwareClass
from apps.rest.catalog.catalog import HardwareClassSerializer
from apps.rest.framework.strict import Strict


class PriceDescription(Strict):
    usd_per_hour = serializers.DecimalField(
        max_digits=12, decimal_places=5, allow_null=True, help_text="of one machine; null: not known any more"
    )
    source = serializers.CharField(  # type: ignore[assignment]  # DRF's metaclass removes it
        max_length=prices.LONGEST_SOURCE, required=False, default="", help_text="where it is stated, and what it covers"
    )
    date = serializers.DateField(
        required=False, allow_null=True, default=None, help_text="the day on which the source stated it"
    )


class HardwarePrice(APIView):
    @extend_schema(operation_id="state_price", request=PriceDescription, responses=HardwareClassSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Set the price of one machine of this class, with source and day. AWS's price list never overwrites it."""
        sent = PriceDescription(data=request.data)
        sent.is_valid(raise_exception=True)
        value = sent.validated_data
        known = prices.set_price(
            slug=slug,
            usd_per_hour=value["usd_per_hour"],
            source=value["source"],
            stated_on=value["date"],
            today=timezone.now().date(),
        )
        if not known:
            raise Http404(f"there is no hardware class {slug!r}")
        return Response(HardwareClassSerializer(HardwareClass.objects.get(slug=slug)).data)
