// In a table of proposals: “Compare” can be pressed when as many are chosen as can stand side by side.
"use strict";
{
  const renew = () => {
    const form = document.getElementById("comparing");
    if (!form) return;
    const { least, most } = form.dataset, chosen = form.querySelectorAll("[name=id]:checked").length;
    const fits = chosen >= least && chosen <= most;
    form.querySelector("button").disabled = !fits;
    document.getElementById("chosen").textContent = fits ? `${chosen} chosen` : `${chosen} chosen: choose ${least} to ${most}`;
  };
  document.addEventListener("change", renew);
  document.addEventListener("htmx:afterSettle", renew); // a table that was searched anew
  addEventListener("pageshow", renew); // the browser's Back leaves boxes ticked
}
